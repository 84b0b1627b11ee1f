package estimate

import (
	"math"

	"whatif/internal/analyze"
	"whatif/internal/analyze/student"
)

// doubts are what may be wrong with a gain beside the choice of the recorded stretch; all as parts.
type doubts struct {
	sampling  float64 // standard deviation of the gain, because the unit's share is known from samples only
	deviation float64 // of the run without a change from the recording
	most      float64 // the most that the change can gain
	size      float64 // of the change: the speed-up, or 1
}

// interval turns a gain into an estimate in percent.
func interval(m measured, d doubts) analyze.Estimate {
	est := analyze.Estimate{Value: 100 * m.gain, Known: !math.IsNaN(m.gain) && !math.IsInf(m.gain, 0)}
	half := 100 * math.Hypot(math.Hypot(m.sd*student.Quantile(analyze.Alpha, m.df), m.slack),
		math.Hypot(d.sampling*student.Normal(analyze.Alpha), modelError(m.gain, d)))
	half += 100 * m.between
	if est.Known && !math.IsNaN(half) && !math.IsInf(half, 0) {
		est.Low, est.High, est.Bounded = est.Value-half, est.Value+half, true
	}
	return est.AtMost(100)
}

// What a model never knows better, as half of the interval's width. They are the method's own error of experiments
// (package analyze). Measured with programs of accuracy/ that were really changed: of 45 whose estimates are off by
// less than 15 points, intervals hold the truth at 82% of the levels; with a modelPart of 0.03, at 69%.
const (
	modelFloor = 0.005 // of the speed-up, but not more than the change can gain
	modelPart  = 0.13  // of the gain
)

// modelError is half the width of the interval of a gain because of the model, as far as the run without a change shows
// it. If the simulated machine is off by a tenth without a change, its answer to one is taken to be off by a tenth as
// well: of the gain, and of what the change could have gained, in case the program waits for something else than it
// seems.
//
// It does not know what is wrong in a machine that does without a change what was recorded: docs/limits.md has such
// programs.
func modelError(gain float64, d doubts) float64 {
	return math.Hypot(math.Abs(d.deviation)*math.Hypot(gain, d.most),
		math.Hypot(min(modelFloor*d.size, d.most), modelPart*gain))
}

// shareError is the standard deviation of the unit's part of the time, as a part of itself. Samples come at random
// moments, so their number is binomial. The time that threads waited is known.
func (u *Unit) shareError() float64 {
	if u.Samples == 0 || u.running <= 0 {
		return 0
	}
	error := math.Sqrt(max(0, 1-u.Share/100) / float64(u.Samples))
	return error * u.running / (u.running + u.Waited)
}
