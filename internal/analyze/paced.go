package analyze

import "math"

// paceTells is how many placebos it takes to see that a point keeps its pace: of two the noise is that of all units'
// experiments, which is enough for so large an effect; of one that may be chance.
const paceTells = 2

// A point that keeps its pace seems to gain what a placebo delays. At least pacedLeast of it surely, and no more
// than pacedMost: a point that gains more than was delayed has become faster, which is something else. By the clock it may
// lose pacedLoss of it: a thread that the clock wakes on a core that is stopped comes later now and then.
const pacedLeast, pacedMost, pacedLoss = 0.8, 1.1, 0.1

// paced gives point k's track and fits by the clock, if delays for nothing do not slow the point down: a clock that
// is not delayed sets the pace of its visits, or requests from outside do. In less virtual time as many come,
// whatever the code is worth.
//
// The runs are of one program and get one answer. The evidence is pooled over those that have placebos, in
// proportion to what they delayed; they must hold pacedRuns of the experiments' time. So a short run without
// placebos changes no long run's answer, and the placebos of a short run decide nothing for long runs that have
// none. The point has to seem to gain what the placebos take; and by the clock it must not surely leave its pace by
// more than is allowed, about the margin: what is lost there is taken from all units. One visit of twenty more or
// less at the edge of one of two placebos is chance.
func (in *input) paced(k, placebo int, told nothing, phases []phasing, margin float64) (clock *track, clocked []*fit, allowed float64) {
	seems := told.fit.total >= paceTells && told.gain-told.half > pacedLeast*told.kept && told.gain < pacedMost*told.kept
	if !seems || in.triedPart(k, told.fit) < pacedRuns {
		return nil, nil, 0
	}
	see := in.byTheClock(k)
	clock, clocked = in.fitPoint(see, phases)
	allowed = max(margin, pacedLoss*told.kept)
	if left := in.nothing(placebo, see, clock, clocked, phases); !(math.Abs(left.gain)-left.half <= allowed) {
		return nil, nil, 0 // also where it is not known
	}
	return clock, clocked, allowed
}

// pacedRuns is the part of the experiments' time, baselines' too, that the runs with placebos have to hold: most of
// it.
const pacedRuns = 0.5

// triedPart is the part that the runs in which a unit was tried have of the time in which point k was measured.
func (in *input) triedPart(k int, f *fit) float64 {
	tried := make(map[int]bool)
	for i := range f.trials {
		tried[f.trials[i].run] = true
	}
	see := in.visits(k)
	var part, all float64
	for r, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if _, ok := see(r, e); !ok || !usable(e) {
				continue
			}
			all += float64(e.RealNS)
			if tried[r] {
				part += float64(e.RealNS)
			}
		}
	}
	return part / all
}
