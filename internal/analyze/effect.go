package analyze

import (
	"math"
	"slices"
)

// A fit is the trials of one unit at one point summed up by level, with the
// covariance of what is summed.
//
// Let W, X and x be a level's sums of time, expected time and exposure. Its raw
// gain is 1 - W/X. Its surplus W - θX has the variance
//
//	λ·Σ v·x²  +  θ²·σ²·(Σ a² - Σ own)
//
// where v is the variance predicted for a trial (trial.expose), λ how much
// noisier than predicted the unit is (noise.go), σ² the variance of one baseline
// and a the part that it has in all of the level's expectations together. The
// first term counts each trial's baselines as if no other trial had used them,
// the second what they share (shared.go). Levels have a covariance through the baselines
// that they share.
type fit struct {
	track   *track
	trials  []trial // what was summed up
	levels  []levelSum
	cov     matrix // of the surpluses, in ns²
	df      float64
	slope   float64
	slopeSD float64
	total   int
	clipped int
	// phase is what the phase correction multiplied the gains by, phaseVariance
	// the relative variance of it that is not in the trials' scatter.
	phase, phaseVariance float64
	// bowed: of a latency, see bowedModels
	bowed bool
	// drag is what it was corrected for, and dragLeft how much of that there was; nil: it was not
	drag     *drag
	dragLeft func(speedup float64) float64
	// ss and ssDF: see measureNoise
	ss, ssDF float64
	// disagree and runs: see disagreement
	disagree float64
	runs     int
}

type levelSum struct {
	speedup           int
	n                 int
	time, expected, x float64
	visits            float64 // expected / period: how many visits there were, on the mean period
	theta             float64 // used for the variances
	predicted         float64 // Σ v·x²
	weight            float64 // in the slope
	ss                float64 // Σ of squares over what was predicted, n-1 of them expected
}

// trialsFit sums trials up; the noise is not in it yet.
func trialsFit(t *track, trials []trial, p *phasing) *fit {
	f := &fit{track: t, trials: trials, total: len(trials), phase: 1}
	if len(trials) == 0 {
		return f
	}
	if t.clip {
		f.clipped = winsorise(t, trials)
	}
	if p.phased {
		f.phase, f.phaseVariance = p.correct(t, trials), p.variance
	}
	levels := byLevel(trials)
	for _, lv := range levels {
		s := levelSum{speedup: lv.speedup, n: len(lv.trials)}
		for i := range lv.trials {
			s.time += lv.trials[i].time
			s.expected += lv.trials[i].expected
			s.weight += lv.trials[i].weight
		}
		s.visits = s.expected / t.period()
		f.levels = append(f.levels, s)
	}
	line := f.pooledLine()
	for l := range f.levels {
		f.levels[l].theta = f.levels[l].ratio(line)
	}
	// Once for a first curve, once more with what that says: a level that is low
	// by chance must not pass for a precise one.
	f.predict(t, levels)
	f.smooth()
	f.predict(t, levels)
	f.measureNoise(levels)
	f.share(t, levels)
	return f
}

// predict sets the levels' exposures and predicted variances from their ratios.
func (f *fit) predict(t *track, levels []level) {
	for l := range f.levels {
		s := &f.levels[l]
		effect := 1.0
		if delay := delayed(levels[l].trials); delay > 0 {
			effect = (1 - s.theta) / delay
		}
		s.x, s.predicted = 0, 0
		for i := range levels[l].trials {
			tr := &levels[l].trials[i]
			tr.expose(t, s.theta, effect)
			s.x += tr.exposure
			s.predicted += tr.variance * tr.exposure * tr.exposure
		}
	}
}

// smooth replaces the levels' ratios by those of the curve through them.
func (f *fit) smooth() {
	cov := newMatrix(len(f.levels))
	for l := range f.levels {
		_, v := f.levels[l].gain()
		cov.add(l, l, v)
	}
	if c, ok := f.curve(cov, nil); ok {
		for l := range f.levels {
			f.levels[l].theta = math.Max(leastRatio, 1-c.mean[l])
		}
	}
}

// curve estimates the gains at all levels, and at more speed-ups (as fractions),
// given the covariance of the levels' gains.
func (f *fit) curve(cov matrix, more []float64) (curve, bool) {
	n := len(f.levels)
	x, y := make([]float64, n), make([]float64, n)
	for l := range f.levels {
		x[l] = float64(f.levels[l].speedup) / 100
		y[l], _ = f.levels[l].gain()
	}
	of := models
	if f.bowed {
		of = bowedModels
	}
	return newCurve(of, x, y, cov, slices.Concat(x, more))
}

// gainCov is the covariance of the levels' gains; it needs finish.
func (f *fit) gainCov() matrix {
	cov := newMatrix(len(f.levels))
	for l := range f.levels {
		for m := range f.levels {
			cov.add(l, m, f.cov.at(l, m)/(f.levels[l].scale()*f.levels[m].scale()))
		}
	}
	return cov
}

// delayed is the part of the time that was virtual delay.
func delayed(trials []trial) float64 {
	var delay, real float64
	for i := range trials {
		delay += trials[i].delay
		real += trials[i].real
	}
	if real == 0 {
		return 0
	}
	return delay / real
}

// pooledLine is a slope through the origin that needs no visits at any single
// level: the s that makes Σ speedup·(W - (1 - s·speedup)·X) zero, which is
// weighted least squares on the gains with X for weights.
func (f *fit) pooledLine() float64 {
	var num, den float64
	for _, s := range f.levels {
		u := float64(s.speedup) / 100
		num += u * (s.expected - s.time)
		den += u * u * s.expected
	}
	if den == 0 {
		return math.NaN()
	}
	return num / den
}

// ratio is θ of a level before there is a curve: its own where there are visits
// enough, the line's where there are not.
func (s *levelSum) ratio(line float64) float64 {
	if s.visits >= manyVisits {
		return s.time / s.expected
	}
	if math.IsNaN(line) {
		return 1
	}
	return math.Max(leastRatio, 1-line*float64(s.speedup)/100)
}

const (
	// manyVisits is from where a ratio of sums is hardly skewed: with 30, the mean
	// of one over a Poisson count exceeds one over its mean by 3%.
	manyVisits = 30
	// leastRatio keeps what is divided by a ratio from exploding.
	leastRatio = 0.05
)

// gain is a level's gain and its predicted variance. With few visits the ratio
// of sums is skewed or does not exist; then the surplus over what is expected is
// divided by what the visits should have taken, which is linear in the visits.
func (s *levelSum) gain() (y, v float64) {
	if s.visits >= manyVisits {
		return 1 - s.time/s.expected, s.predicted / (s.expected * s.expected)
	}
	return 1 - s.theta - (s.time-s.theta*s.expected)/s.x, s.predicted / (s.x * s.x)
}

// scale is what a surplus is divided by to be a gain.
func (s *levelSum) scale() float64 {
	if s.visits >= manyVisits {
		return s.expected
	}
	return s.x
}
