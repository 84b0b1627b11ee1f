package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// ParseWaiting reads a list of classes of waiting: none, all, or names.
func ParseWaiting(list string) ([]ledger.WaitClass, error) {
	switch list {
	case "none":
		return nil, nil
	case "all":
		// No code waits for a core.
		return slices.DeleteFunc(ledger.WaitClasses(), func(c ledger.WaitClass) bool { return c == ledger.WaitCPU }), nil
	}
	var classes []ledger.WaitClass
	for name := range strings.SplitSeq(list, ",") {
		class, ok := waitClass(strings.TrimSpace(name))
		if !ok || class == ledger.WaitCPU {
			return nil, fmt.Errorf("reading %q as classes of waiting: %q is none of disk, net, sleep, lock, child, other; "+
				"none and all stand alone", list, name)
		}
		if !slices.Contains(classes, class) {
			classes = append(classes, class)
		}
	}
	return classes, nil
}

func waitClass(name string) (ledger.WaitClass, bool) {
	for _, c := range ledger.WaitClasses() {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// waitTargets are the classes that are sped up by themselves.
func waitTargets(cfg *Config) (classes []ledger.WaitClass) {
	for _, t := range cfg.Targets {
		if c, ok := waitClass(t.Wait); ok {
			classes = append(classes, c)
		}
	}
	if cfg.Device != nil {
		classes = slices.AppendSeq(classes, maps.Keys(standingWaits(cfg.Device)))
	}
	return classes
}

// addWaits makes units of the classes of waiting that are targets.
func (t *unitTable) addWaits() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, target := range t.targets {
		if class, ok := waitClass(target.Wait); ok {
			t.waits[t.ofTarget(profile.Unit{Kind: "wait", Name: target.Text}, i)] = class
		}
	}
}

// waitOf is the class of waiting that a unit is; nil: it is code.
func (t *unitTable) waitOf(id uint32) *ledger.WaitClass {
	t.mu.Lock()
	defer t.mu.Unlock()
	if class, ok := t.waits[id]; ok {
		return &class
	}
	return nil
}

// hasWaits tells whether any unit is a class of waiting.
func (t *unitTable) hasWaits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waits) > 0
}
