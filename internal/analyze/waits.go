package analyze

import (
	"maps"
	"slices"

	"whatif/internal/profile"
)

// tookPart is how much each unit took part in an experiment, in samples: a sampling period
// for which a thread waited in it, for what counts as its time, is like one.
func tookPart(run *profile.Run, e *profile.Experiment) map[uint32]int64 {
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

// measureWaiting sets the targets' waiting, from the baselines where there are any: in
// experiments the delays are waited, too.
func (in *input) measureWaiting() {
	for _, baselines := range []bool{true, false} {
		var real int64
		sums, counted := make([]map[string]int64, len(in.targets)), make([]int64, len(in.targets))
		for r, d := range in.runs {
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

// waitsElsewhere tells of waiting in no code of the program's: that of a runtime, whose own threads
// wait for all of it. Not where units are functions, as waiting counts for those only while
// they are tried; and of sleep there is always some.
func (in *input) waitsElsewhere(res *Result) {
	const worthAWord = 20 // percent of the time
	var real int64
	elsewhere := make(map[string]int64)
	for _, d := range in.runs {
		functions := false
		for _, u := range d.Units {
			functions = functions || u.Kind == "func"
		}
		if functions || len(d.Run.Targets) > 0 {
			continue
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if !usable(e) || !e.IsBaseline() {
				continue
			}
			real += e.RealNS
			for _, class := range []string{"net", "disk"} {
				if !slices.Contains(d.Run.Waiting, class) {
					continue
				}
				elsewhere[class] += e.WaitedNS[class]
				for _, classes := range e.UnitWaitedNS {
					elsewhere[class] -= classes[class]
				}
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(elsewhere)) {
		if x := 100 * float64(elsewhere[class]) / float64(max(1, real)); x >= worthAWord {
			res.warn("waits-elsewhere", "threads waited for the %s for %.0f%% of the time (added up) in no code of the program's, as those of a language's runtime do: "+
				"no line is blamed for it; -t wait:%s asks what it is worth", class, x, class)
		}
	}
}
