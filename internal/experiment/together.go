package experiment

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// partsOf are the units of a combination, as profiles have them; nil where each target is for itself.
func partsOf(cfg *Config) (parts []profile.Part) {
	for i, percent := range cfg.Together {
		t := &cfg.Targets[i]
		p := profile.Part{Target: t.Text, Kind: t.UnitKind(), Name: cmp.Or(t.Wait, t.Func), Percent: percent}
		switch {
		case t.Wait != "":
			p.Kind, p.Name = "wait", t.Text
		case len(t.Callers) > 0:
			p.Kind, p.Name = "path", t.PathName()
		case t.Self:
			p.Kind = "func"
		case t.Func == "":
			p.Name = filepath.Base(t.File) + ":" + strconv.Itoa(t.Line)
		}
		parts = append(parts, p)
	}
	return parts
}

// A combination is units that are sped up at once, each by its own amount.
type combination struct {
	unit  profile.Unit
	by    []float64      // by target: the part of its time that is gone
	id    uint32         // of unit; 0: none of its code was met yet
	parts map[uint32]int // the units of each target, by the target's index
}

func newCombination(cfg *Config) *combination {
	if len(cfg.Together) == 0 {
		return nil
	}
	c := &combination{
		unit:  profile.TogetherUnit(partsOf(cfg)),
		parts: make(map[uint32]int),
	}
	for _, percent := range cfg.Together {
		c.by = append(c.by, percent/100)
	}
	return c
}

// join makes a unit one of the combination's. A unit that two targets name is the first one's.
func (c *combination) join(unit uint32, target int) {
	if _, known := c.parts[unit]; unit != 0 && !known {
		c.parts[unit] = target
	}
}

// ofTarget is a unit that a target names.
func (t *unitTable) ofTarget(u profile.Unit, target int) uint32 {
	id := t.number(u, true, "")
	if t.together != nil {
		t.together.join(id, target)
	}
	return id
}

// togetherID is the number of the combination; 0: none of its units was met yet.
func (t *unitTable) togetherID() uint32 {
	if len(t.together.parts) == 0 {
		return 0
	}
	if t.together.id == 0 {
		t.together.id = t.number(t.together.unit, false, "")
	}
	return t.together.id
}

// selection is what is sped up where a unit is, by so many percent. In a baseline, by 0, it is what may be next. id 0:
// nothing.
func (t *unitTable) selection(id uint32, percent int) ledger.Selection {
	t.mu.Lock()
	defer t.mu.Unlock()
	by := float64(cmp.Or(percent, 100)) / 100
	s := ledger.Selection{Number: id}
	add := func(unit uint32, by float64) {
		if class, ok := t.waits[unit]; ok {
			s.Waits[class] = max(s.Waits[class], by)
		} else {
			s.Units = append(s.Units, ledger.FasterUnit{Unit: unit, By: by})
		}
	}
	switch {
	case id == 0:
	case t.together != nil && id == t.together.id:
		for unit := range t.together.parts {
			add(unit, t.together.by[t.together.parts[unit]])
		}
	default:
		add(id, by)
	}
	return s
}

// togetherUnits is how many units of the combination were met so far.
func (t *unitTable) togetherUnits() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.together == nil {
		return 0
	}
	return len(t.together.parts)
}

// unmet are the indices of the combination's targets of which no code was met.
func (t *unitTable) unmet() (targets []int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.together == nil {
		return nil
	}
	met := slices.Collect(maps.Values(t.together.parts))
	for i := range t.together.by {
		if !slices.Contains(met, i) {
			targets = append(targets, i)
		}
	}
	return targets
}

// addTogether adds up what an experiment has counted for the units of a combination: the combination took part as much.
func (t *unitTable) addTogether(e *profile.Experiment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.together == nil || t.together.id == 0 {
		return
	}
	id := t.together.id
	var samples, waited int64
	for unit := range t.together.parts {
		samples += e.UnitSamples[unit]
		waited += e.UnitWaits[unit]
	}
	// A sample can be in several functions, and two classes of waits can overlap.
	if samples = min(samples, e.Samples); samples > 0 {
		e.UnitSamples[id] = samples
	}
	if waited = min(waited, e.RealNS); waited > 0 {
		e.UnitWaits[id] = waited
	}
}
