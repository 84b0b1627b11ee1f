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
	waking    float64 // the part of the time in which idle cores woke up
	taken     float64 // the part of its time in which other programs had the target's cores
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

// What a model never knows better, as half of the interval's width. Learned from programs of accuracy/ that were really
// changed: one factor for the first three, so that 90 to 92% of the levels of all programs but one are within.
// docs/estimates.md has how well that holds for the one that was left out.
const (
	modelPart   = 0.085  // of the gain
	modelFloor  = 0.0085 // of the speed-up
	modelWaking = 0.6    // of the speed-up, times the square root of the part of the time in which idle cores wake up
	// modelReach is how many times a unit's own time its speed-up can count: others wait for it.
	modelReach = 3
)

// modelError is half the width of the interval of a gain because of the model. It has two parts.
//
// What the run without a change shows: if the simulated machine is off by a tenth without a change, its answer to one
// is taken to be off by a tenth as well: of the gain, and of what the change could have gained, in case the program
// waits for something else than it seems.
//
// So it is with the time in which other programs had the cores: nothing says when they would have had them otherwise.
//
// What it does not show: with a change, other threads wait and other cores sleep than in the recording. What that costs
// is taken from the recording; how fast a core is after it has slept, or which of two threads comes first, it does not
// tell. So the more of the time idle cores need to run what was woken, the less is known. Programs without waits have
// only the other terms.
func modelError(gain float64, d doubts) float64 {
	reach := min(d.size, modelReach*d.most)
	return math.Hypot(math.Hypot(d.deviation, d.taken)*math.Hypot(gain, d.most),
		math.Hypot(modelPart*gain, reach*math.Hypot(modelFloor, modelWaking*math.Sqrt(d.waking))))
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
