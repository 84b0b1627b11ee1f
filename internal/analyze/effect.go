package analyze

import (
	"math"
	"slices"
)

// A fit is the trials of one unit at one point, summed up by level, with the covariance of the
// sums.
//
// Let W, X and x be a level's sums of time, expected time and exposure. Its raw gain is 1 - W/X.
// Its surplus W - θX has the variance
//
//	λ·Σ v·x²  +  θ²·σ²·(Σ a² - Σ own)
//
// where v is the predicted variance of a trial (trial.expose), λ how much noisier than predicted
// the unit is (noise.go), σ² the variance of one baseline, and a its part in all expectations of
// the level together. The first term counts each trial's baselines as if no other trial had used
// them, the second adds what they share (shared.go). Levels have a covariance through common
// baselines.
//
// Of a unit that runs in phases the gain is (X-W)/Y, see phase.go. The formulas stay, with Y for X,
// but for the variance, in which X is as uncertain as it is: without θ.
type fit struct {
	track   *track
	trials  []trial // the trials that were summed up
	levels  []levelSum
	cov     matrix // of the levels' surpluses, in ns²
	df      float64
	slope   float64
	slopeSD float64
	total   int
	clipped int
	// phase is the factor by which the phase correction multiplied the gains, phaseVariance its
	// relative variance beyond the trials' scatter.
	phase, phaseVariance float64
	// bowed says that this is a latency, so the curve uses bowedModels.
	bowed bool
	// delayBias is the correction that the trials have had, biasLeft the part of it at a speed-up;
	// nil for none.
	delayBias *delayBias
	biasLeft  func(speedup float64) float64
	// ss and ssDF are squares and degrees of freedom, as measureNoise collects them.
	ss, ssDF float64
	// disagree and runs are the results of disagreement.
	disagree float64
	runs     int
}

type levelSum struct {
	speedup           int
	n                 int
	time, expected, x float64
	visits            float64 // expected / period: the number of visits at the mean period
	linear            bool    // the gain is in proportion to X-W, see phase.go
	theta             float64 // ratio used for the variances
	predicted         float64 // Σ v·x²
	weight            float64 // of the level in the slope
	ss                float64 // Σ of squares over predictions; n-1 is expected
}

// trialsFit sums up trials. The noise is added by finish.
func trialsFit(t *track, trials []trial, p *phasing) *fit {
	f := &fit{track: t, trials: trials, total: len(trials), phase: 1}
	if len(trials) == 0 {
		return f
	}
	for i := range trials {
		trials[i].usual = t.mean
		if p.phased {
			trials[i].usual = t.whole
		}
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
		if p.phased {
			p.divide(&s, lv.trials)
		}
		f.levels = append(f.levels, s)
	}
	line := f.pooledLine()
	for l := range f.levels {
		f.levels[l].theta = f.levels[l].ratio(line)
	}
	// The first pass gives a first curve, and the second uses it: a level that is low by chance
	// must not count as precise.
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

// smooth replaces the levels' ratios by those of a curve through them.
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

// curve estimates the gains at all levels, and at more speed-ups (as fractions), given the
// covariance of the levels' gains.
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

// gainCov is the covariance of the levels' gains. Call finish before.
func (f *fit) gainCov() matrix {
	cov := newMatrix(len(f.levels))
	for l := range f.levels {
		for m := range f.levels {
			cov.add(l, m, f.cov.at(l, m)/(f.levels[l].scale()*f.levels[m].scale()))
		}
	}
	return cov
}

// delayed is the part of the real time that was virtual delay.
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

// pooledLine is a slope through the origin that needs no visits at any single level. It is the s
// that makes Σ speedup·(W - (1 - s·speedup)·X) zero: weighted least squares on the gains, with X
// for weights.
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

// ratio is θ of a level before there is a curve: the level's own if it has enough visits, that of
// the line if not.
func (s *levelSum) ratio(line float64) float64 {
	if !s.linear && s.visits >= manyVisits {
		return s.time / s.expected
	}
	if math.IsNaN(line) {
		return 1
	}
	return math.Max(leastRatio, 1-line*float64(s.speedup)/100)
}

const (
	// manyVisits is the number of visits from which a ratio of sums is hardly skewed. With 30, the
	// mean of one over a Poisson count exceeds one over its mean by 3%.
	manyVisits = 30
	// leastRatio bounds divisors.
	leastRatio = 0.05
)

// gain is a level's gain and its predicted variance. With few visits the ratio of sums is skewed or
// does not exist. Then the surplus is divided by the time that the visits should have taken, which
// is linear in the visits. The gain of a unit in phases is linear in them anyway.
func (s *levelSum) gain() (y, v float64) {
	if s.linear || s.visits >= manyVisits {
		return 1 - s.time/s.expected, s.predicted / (s.expected * s.expected)
	}
	return 1 - s.theta - (s.time-s.theta*s.expected)/s.x, s.predicted / (s.x * s.x)
}

// scale is the divisor that turns a surplus into a gain.
func (s *levelSum) scale() float64 {
	if s.linear || s.visits >= manyVisits {
		return s.expected
	}
	return s.x
}
