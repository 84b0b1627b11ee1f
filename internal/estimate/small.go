package estimate

import (
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/recording"
)

// In a flat profile few units have enough of the time for an estimate, and together little of it. Then smaller ones get
// estimates, too, the largest first, until units with estimates have nearly all of the time. A small unit needs one
// simulated run mostly, but there may be a thousand of them.
const (
	nearlyAll = 95.0 // percent of the target's CPU time
	// mostWork bounds the runs for small units, times the events that each run has to go through. It is what two cores do
	// in some three seconds.
	mostWork = 20_000_000
)

// smallest is the share of the CPU time, in percent, from which a unit gets an estimate. shares are those of all units
// that do not overlap, and work is how many events a run goes through.
func (e *Estimator) smallest(shares []float64, work int) float64 {
	if e.doubt != "" || e.opt.Kind == "func" || e.opt.Least != DefaultLeast {
		return e.opt.Least
	}
	shares = slices.Clone(shares)
	slices.Sort(shares)
	slices.Reverse(shares)
	sum, left := 0.0, mostWork/max(1, work)
	least := e.opt.Least
	for i := 0; i < len(shares) && shares[i] > 0 && sum < nearlyAll; {
		equal := 1 // units with as much; where samples are few there are many of them
		for i+equal < len(shares) && shares[i+equal] == shares[i] {
			equal++
		}
		if shares[i] < e.opt.Least {
			if left -= equal; left < 0 {
				break
			}
			least = shares[i]
		}
		sum += shares[i] * float64(equal)
		i += equal
	}
	return least
}

// quarters leaves the levels 25, 50, 75 and 100% of a small unit's effects: what is between is on straight lines, and
// there may be a thousand such units in a report.
func quarters(effects []analyze.EstimatedEffect) {
	for i := range effects {
		effects[i].Levels = slices.DeleteFunc(effects[i].Levels, func(l analyze.Level) bool { return l.Speedup%25 != 0 })
	}
}

// work is how many events a simulated run goes through. Samples are added up before.
func (e *Estimator) work() (events int) {
	for i := range e.rec.Windows {
		for j := range e.rec.Windows[i].Events {
			if e.rec.Windows[i].Events[j].Kind != recording.Sample {
				events++
			}
		}
	}
	return events
}
