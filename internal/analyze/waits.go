package analyze

import "whatif/internal/profile"

// participation is how much each unit took part in an experiment, in samples. A wait that counts as
// the unit's time counts as one sample for each sampling period.
func participation(run *profile.Run, e *profile.Experiment) map[uint32]int64 {
	if len(e.UnitWaits) == 0 || run.PeriodNS <= 0 {
		return e.UnitSamples
	}
	all := make(map[uint32]int64, len(e.UnitSamples)+len(e.UnitWaits))
	for id, n := range e.UnitSamples {
		all[id] = n
	}
	for id, ns := range e.UnitWaits {
		all[id] += ns / run.PeriodNS
	}
	return all
}

// recordsWaits says whether a run recorded waits, even if there were none.
func recordsWaits(d *profile.Data) bool {
	for _, u := range d.Units {
		if u.Kind == "wait" {
			return true
		}
	}
	return len(d.Run.Waiting) > 0
}

// measureWaiting sets the targets' waiting. It is taken from the baselines if there are any,
// because in experiments threads also wait for delays. As shares are, it is that of the runs that
// could have the unit.
func (in *input) measureWaiting(c *choices) {
	for _, baselines := range []bool{true, false} {
		all := make([]waited, c.n)
		for i := range all {
			all[i] = waited{counted: make([]int64, len(in.targets)), classes: make([]map[string]int64, len(in.targets))}
		}
		known := false
		for r, d := range in.runs {
			if !recordsWaits(d) {
				continue
			}
			for i := range d.Experiments {
				if e := &d.Experiments[i]; usable(e) && (!baselines || e.IsBaseline()) {
					known = true
					all[c.of[r]].add(e, in.unitOf[r])
				}
			}
		}
		if !known {
			continue
		}
		for u := range in.targets {
			in.targets[u].setWaiting(u, c.from[u], all)
		}
		return
	}
}

// waited is how long threads waited in the runs of one choice, in ns, by target.
type waited struct {
	real    int64 // of the runs
	counted []int64
	classes []map[string]int64
}

func (w *waited) add(e *profile.Experiment, unitOf map[uint32]int) {
	w.real += e.RealNS
	for id, ns := range e.UnitWaits {
		w.counted[unitOf[id]] += ns
	}
	for id, classes := range e.UnitWaitedNS {
		u := unitOf[id]
		if w.classes[u] == nil {
			w.classes[u] = make(map[string]int64)
		}
		for class, ns := range classes {
			w.classes[u][class] += ns
		}
	}
}

// setWaiting sets the waiting of target u from the runs of some choices.
func (t *Target) setWaiting(u int, from []int, all []waited) {
	var real, counted int64
	sum := make(map[string]int64)
	for _, i := range from {
		real += all[i].real
		counted += all[i].counted[u]
		for class, ns := range all[i].classes[u] {
			sum[class] += ns
		}
	}
	if real == 0 {
		return
	}
	t.Waited = min(100, 100*float64(counted)/float64(real))
	for class, ns := range sum {
		if t.Waiting == nil {
			t.Waiting = make(map[string]float64)
		}
		t.Waiting[class] = 100 * float64(ns) / float64(real)
	}
}
