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
// because in experiments threads also wait for delays.
func (in *input) measureWaiting() {
	for _, baselines := range []bool{true, false} {
		var real int64
		sums, counted := make([]map[string]int64, len(in.targets)), make([]int64, len(in.targets))
		for r, d := range in.runs {
			if !recordsWaits(d) {
				continue
			}
			for i := range d.Experiments {
				e := &d.Experiments[i]
				if !usable(e) || baselines && !e.IsBaseline() {
					continue
				}
				real += e.RealNS
				for id, ns := range e.UnitWaits {
					counted[in.unitOf[r][id]] += ns
				}
				for id, classes := range e.UnitWaitedNS {
					u := in.unitOf[r][id]
					if sums[u] == nil {
						sums[u] = make(map[string]int64)
					}
					for class, ns := range classes {
						sums[u][class] += ns
					}
				}
			}
		}
		if real == 0 {
			continue
		}
		for u, ns := range counted {
			in.targets[u].Waited = min(100, 100*float64(ns)/float64(real))
		}
		for u, sum := range sums {
			for class, ns := range sum {
				if in.targets[u].Waiting == nil {
					in.targets[u].Waiting = make(map[string]float64)
				}
				in.targets[u].Waiting[class] = 100 * float64(ns) / float64(real)
			}
		}
		return
	}
}
