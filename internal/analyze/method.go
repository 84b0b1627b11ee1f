package analyze

import "math"

// The method's own error: a prediction by virtual speed-ups is off by a little even if all noise is averaged out,
// because time is sampled and hand-overs are seen through samples. It does not shrink with more experiments, and has
// to be in every interval that is to hold the truth.
//
// How large it is was told by accuracy/, where programs are really made faster: by what is left of the differences
// between prediction and truth when both their noises are taken off. That grows with the gain, and is a little where
// there is no gain. The latter, methodFloor, was fitted to all programs of the suite by maximum likelihood with
// heavy tails. Of methodPart maximum likelihood said 0.035; but with that, too few intervals held the truth, as some
// programs are missed by more than the rest lets expect. So methodPart was raised to 0.065, which nine of ten
// intervals of the same programs need. It is fitted in-sample, and to 90%: programs that nothing was fitted to are
// held less often (docs/statistics.md has the figures).
//
// The error is taken to be normal and independent from unit to unit, and is neither.
const (
	methodPart  = 0.065 // of the gain
	methodFloor = 0.005 // of the speed-up
)

// methodError is the standard deviation of the method's own error, for a gain at a
// speed-up, in their unit.
func methodError(speedup, gain float64) float64 {
	return math.Hypot(methodFloor*speedup, methodPart*gain)
}

// An uncertainty is how uncertain an estimate is.
type uncertainty struct {
	noise, df float64 // of what was measured: standard deviation, degrees of freedom
	method    float64 // standard deviation of the method's own error, and of the doubt whether delays do something by themselves
	over      float64 // by how much the estimate may be too high but not too low (drag.go): root mean square
}

// noiseHalf is half the width that the interval would have without the method's own error: what more
// experiments can make smaller.
func (s uncertainty) noiseHalf() float64 { return s.noise * tQuantile(alpha, s.df) }

// half is how far the interval that misses with probability alpha reaches down. Up it reaches no further.
func (s uncertainty) half(alpha float64) float64 {
	return math.Hypot(s.noise*tQuantile(alpha, s.df), math.Hypot(s.method, s.over)*normalQuantile(alpha))
}

// above is how far the interval reaches up.
func (s uncertainty) above() float64 {
	s.over = 0
	return s.half(alpha)
}

// chance is how probable it is, if the truth is 0, that an estimate is as far from 0
// as value.
func (s uncertainty) chance(value float64) float64 {
	if value < 0 {
		s.over = 0
	}
	v := math.Abs(value)
	if v < s.half(alpha) {
		return 1 // nobody asks for more than that
	}
	return tailOf(func(a float64) bool { return s.half(a) < v })
}
