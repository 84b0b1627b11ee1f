package experiment

import (
	"time"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// stretches are how much longer than others an experiment with a unit takes. If a thread waits in the unit, or runs it,
// nearly all the time, a large virtual speed-up leaves little virtual time of an experiment, and few visits. Its values
// are the shares of real time by which G would grow at 100%.
type stretches map[uint32]float64

const baseline = 0 // no unit's number

// An experiment is made so long that enoughVirtual of its usual length is virtual time, but not more than mostStretch
// times as long.
const (
	enoughVirtual = 0.25
	mostStretch   = 4
)

// add learns from an experiment. What delays in a baseline, ticks and probes, does in all of them.
func (g stretches) add(e *profile.Experiment) {
	if e.RealNS == 0 {
		return
	}
	delayed := float64(e.DelayNS) / float64(e.RealNS)
	if e.Speedup == 0 {
		g[baseline] = delayed
		return
	}
	g[e.Unit] = min(1, max(0, delayed-g[baseline])*100/float64(e.Speedup))
}

// of gives the length of a trial, where this one is usual. It is fixed before the trial begins: an end that depended on
// what happens in it would bias the result.
func (g stretches) of(t plan.Trial, usual time.Duration) time.Duration {
	virtual := 1 - g[baseline] - g[t.Watch]*float64(t.Speedup)/100
	if virtual >= enoughVirtual {
		return usual
	}
	return time.Duration(float64(usual) * min(mostStretch, enoughVirtual/max(virtual, enoughVirtual/mostStretch)))
}
