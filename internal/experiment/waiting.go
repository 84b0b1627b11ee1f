package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// ParseWaiting reads a list of classes of waiting: none, all, or names.
func ParseWaiting(list string) ([]ledger.WaitClass, error) {
	switch list {
	case "none":
		return nil, nil
	case "all":
		// Waiting for a core is no code's.
		return slices.DeleteFunc(ledger.WaitClasses(), func(c ledger.WaitClass) bool { return c == ledger.WaitCPU }), nil
	}
	var classes []ledger.WaitClass
	for name := range strings.SplitSeq(list, ",") {
		class, ok := waitClass(strings.TrimSpace(name))
		if !ok || class == ledger.WaitCPU {
			return nil, fmt.Errorf("reading %q as classes of waiting: %q is none of disk, net, sleep, lock, child, other; none and all stand alone", list, name)
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

// waitTargets are the classes that are targets.
func waitTargets(cfg *Config) (classes []ledger.WaitClass) {
	for _, t := range cfg.Targets {
		if c, ok := waitClass(t.Wait); ok {
			classes = append(classes, c)
		}
	}
	return classes
}

// addWaits makes units of the classes of waiting that are targets.
func (t *unitTable) addWaits() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, target := range t.targets {
		if class, ok := waitClass(target.Wait); ok {
			t.waits[t.number(profile.Unit{Kind: "wait", Name: target.Text}, true, "")] = class
		}
	}
}

// waitOf is the class of waiting that a unit is; nil of code.
func (t *unitTable) waitOf(id uint32) *ledger.WaitClass {
	t.mu.Lock()
	defer t.mu.Unlock()
	if class, ok := t.waits[id]; ok {
		return &class
	}
	return nil
}

// unitWaits is what is known of the units' waiting at one moment; index 0 is unit 1.
type unitWaits struct {
	at   uint64
	over []ledger.Waits
	now  []bool

	last map[uint32]int64 // for how long at least one thread waited, in the last experiment
}

func (s *session) followsWaits() bool { return len(s.cfg.Waiting) > 0 || s.units.hasWaits() }

// readWaits reads the units' waiting as it is now.
func (s *session) readWaits() unitWaits {
	w := unitWaits{at: ledger.Now(), last: s.waits.last}
	for i := range s.units.count() {
		over, now := s.ledger.UnitWaits(uint32(i + 1))
		w.over, w.now = append(w.over, over), append(w.now, now)
	}
	return w
}

// recordWaits adds to an experiment what was waited during it; all is that of the target.
func (s *session) recordWaits(e *profile.Experiment, all ledger.Waits) {
	if !s.followsWaits() {
		return
	}
	e.WaitedNS = byClass(all)
	was := s.waits
	s.waits = s.readWaits()
	s.waits.last = make(map[uint32]int64)
	for i, over := range s.waits.over {
		id, begun := uint32(i+1), false
		if i < len(was.over) {
			for c := range over {
				over[c] -= was.over[i][c]
			}
			begun = was.now[i]
		}
		class := s.units.waitOf(id)
		if class != nil {
			over = ledger.Waits{}
			over[*class] = all[*class]
		}
		if m := byClass(over); m != nil {
			if e.UnitWaitedNS == nil {
				e.UnitWaitedNS = make(map[uint32]map[string]int64)
			}
			e.UnitWaitedNS[id] = m
		}
		if waited := s.countedWait(class, over, begun && s.waits.now[i], time.Duration(s.waits.at-was.at)); waited > 0 {
			s.waits.last[id] = waited
		}
	}
	if len(s.waits.last) > 0 {
		e.UnitWaits = s.waits.last
	}
}

// countedWait estimates for how long at least one thread waited in a unit for what counts, in so much
// time: several that wait at once earn once. over is what was over meanwhile. Where nothing was, and somebody
// waits there at both ends, it is one wait that lasts. class: that of a unit that is one.
func (s *session) countedWait(class *ledger.WaitClass, over ledger.Waits, bothEnds bool, length time.Duration) int64 {
	var sum time.Duration
	for c, d := range over {
		if class != nil && ledger.WaitClass(c) == *class || class == nil && slices.Contains(s.cfg.Waiting, ledger.WaitClass(c)) {
			sum += d
		}
	}
	if bothEnds && sum == 0 {
		return int64(length)
	}
	return int64(min(sum, length))
}

func byClass(w ledger.Waits) map[string]int64 {
	var m map[string]int64
	for _, c := range ledger.WaitClasses() {
		if w[c] > 0 {
			if m == nil {
				m = make(map[string]int64)
			}
			m[c.String()] = int64(w[c])
		}
	}
	return m
}

func (t *unitTable) hasWaits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waits) > 0
}

// candidates are the units that may be tried, weighted with how much they took part since
// the last experiment but one: a period of waiting counts like a sample.
func (s *session) candidates() []plan.Candidate {
	all := s.units.candidates(s.before)
	if len(s.cfg.Targets) > 0 {
		return all
	}
	at := make(map[uint32]int)
	for i, c := range all {
		at[c.Unit] = i
	}
	for id := uint32(1); int(id) <= len(s.waits.over); id++ {
		n := s.waits.last[id] / int64(s.cfg.Period)
		if n == 0 {
			continue
		}
		if i, ok := at[id]; ok {
			all[i].Samples += n
		} else {
			all = append(all, plan.Candidate{Unit: id, Samples: n})
		}
	}
	return all
}
