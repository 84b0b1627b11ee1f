package analyze

import "math"

// paceTells is how many placebos it takes to see that a point keeps its pace: of two the noise is that of all units' experiments, which
// is enough for so large an effect; of one that may be chance.
const paceTells = 2

// A point that keeps its pace seems to gain what a placebo delays. At least pacedLeast of it surely, and no more than pacedMost: who
// gains more than was delayed has become faster, and that is something else. By the clock it may lose pacedLoss of it: while others
// are stopped on a core, who wakes up there by the clock now and then comes later.
const pacedLeast, pacedMost, pacedLoss = 0.8, 1.1, 0.1

// paced gives point k's track and fits by the clock, if delays for nothing do not slow it down: its visits come by a clock then, or
// from somewhere else that is not delayed. In less virtual time as many come, whatever the code is worth. It has to seem to gain what
// they take, in all runs together and each of them has tried, and by the clock it must not surely leave its pace by more than is
// allowed, the margin or so: what is lost there is taken from all units. One visit of twenty more or less at the edge of one of two placebos is chance.
func (in *input) paced(k, placebo int, told nothing, phases []phasing, margin float64) (clock *track, clocked []*fit, allowed float64) {
	tried := make(map[int]bool)
	for _, o := range in.tried[placebo] {
		tried[o.run] = true
	}
	seems := len(tried) == len(in.runs) && told.fit.total >= paceTells && told.gain-told.half > pacedLeast*told.kept && told.gain < pacedMost*told.kept
	if !seems {
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
