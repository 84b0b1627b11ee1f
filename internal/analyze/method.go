package analyze

import (
	"math"

	"whatif/internal/analyze/student"
)

// The method error: even if all noise is averaged out, a prediction by virtual speed-ups is a
// little off, because time is sampled and hand-overs are seen through samples. More experiments do
// not reduce it. So every interval has to include it.
//
// Its size was measured in accuracy/, where programs are really made faster: it is what remains of
// the differences between prediction and truth when the noise of both is subtracted. It grows with
// the gain, and is small where there is no gain. The latter part, methodFloor, was fitted to all
// programs of the suite by maximum likelihood with heavy tails. For methodPart maximum likelihood
// gave 0.035, but with that too few intervals held the truth, as some programs are missed by more
// than the others let expect. So methodPart was raised to 0.065, which nine of ten intervals of the
// same programs need. It is fitted in-sample, and to 90%: of programs that nothing was fitted to,
// fewer intervals hold the truth (docs/statistics.md has the figures).
//
// The error is taken to be normal and independent from unit to unit. It is neither.
const (
	methodPart  = 0.065 // of the gain
	methodFloor = 0.005 // of the speed-up
)

// methodError is the standard deviation of the method error for a gain at a speed-up, in their
// unit.
func methodError(speedup, gain float64) float64 {
	return math.Hypot(methodFloor*speedup, methodPart*gain)
}

// An uncertainty has the parts of an estimate's uncertainty.
type uncertainty struct {
	noise, df float64 // of the measurement: standard deviation, degrees of freedom
	// standard deviation of the method error, and of the doubt whether delays do something by
	// themselves
	method float64
	// root mean square of what the estimate may be too high by, but not too low (delaybias.go)
	over float64
}

// noiseHalf is half the width that the interval would have without the method error. More
// experiments make it smaller.
func (s uncertainty) noiseHalf() float64 { return s.noise * student.Quantile(Alpha, s.df) }

// half is how far the interval that misses with probability alpha reaches down. It reaches up no
// further.
func (s uncertainty) half(alpha float64) float64 {
	return math.Hypot(s.noise*student.Quantile(alpha, s.df), math.Hypot(s.method, s.over)*student.Normal(alpha))
}

// above is how far the 95% interval reaches up.
func (s uncertainty) above() float64 {
	s.over = 0
	return s.half(Alpha)
}

// chance is the probability that an estimate is as far from 0 as value if the truth is 0.
func (s uncertainty) chance(value float64) float64 {
	if value < 0 {
		s.over = 0
	}
	v := math.Abs(value)
	if v < s.half(Alpha) {
		return 1 // a more exact value is never needed
	}
	return student.TailOf(func(a float64) bool { return s.half(a) < v })
}
