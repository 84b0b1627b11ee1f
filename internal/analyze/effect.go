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
// noisier than predicted the unit is (noise), σ² the variance of one baseline
// and a the part that it has in all of the level's expectations together. The
// first term counts each trial's baselines as if no other trial had used them,
// the second what they share. Levels have a covariance through the baselines
// that they share.
type fit struct {
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
	// moments for the pooled noise, see noise
	ss, ssDF float64
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
	f := &fit{total: len(trials), phase: 1}
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
	return newCurve(x, y, cov, slices.Concat(x, more))
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

// measureNoise collects the squares from which λ is estimated: of each trial
// about its level; and, since with many speed-ups most levels have one trial
// only, of each level about the straight line between its neighbours (and the
// origin). Those count for half a degree of freedom, because each level occurs in
// three of them; a bend inflates them, which errs to the safe side.
func (f *fit) measureNoise(levels []level) {
	for l, lv := range levels {
		s := &f.levels[l]
		if s.n < 2 {
			continue
		}
		mean := (s.time - s.theta*s.expected) / s.x
		for i := range lv.trials {
			tr := &lv.trials[i]
			r := (tr.time-s.theta*tr.expected)/tr.exposure - mean
			s.ss += r * r / tr.variance
		}
		f.ss += s.ss
		f.ssDF += float64(s.n - 1)
	}
	// Enough without the lines, which are worth less.
	if f.ssDF >= 2*float64(len(levels)) {
		f.keptDF()
		return
	}
	gain := func(l int) (speedup, y, v float64) {
		if l < 0 {
			return 0, 0, 0
		}
		s := &f.levels[l]
		y, v = s.gain()
		return float64(s.speedup), y, v
	}
	for l := 0; l+1 < len(f.levels); l++ {
		a, ya, va := gain(l - 1)
		b, yb, vb := gain(l)
		c, yc, vc := gain(l + 1)
		w := (b - a) / (c - a)
		r := yb - (1-w)*ya - w*yc
		f.ss += 0.5 * r * r / (vb + (1-w)*(1-w)*va + w*w*vc)
		f.ssDF += 0.5
	}
	f.keptDF()
}

// keptDF takes trials that were drawn in out of the degrees of freedom, and
// makes up for the squares that they lack (Tukey and McLaughlin).
func (f *fit) keptDF() {
	if kept := f.ssDF - float64(f.clipped); kept >= 1 && f.clipped > 0 {
		f.ss *= f.ssDF / kept
		f.ssDF = kept
	}
}

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

// share sets the covariance that comes from baselines that several trials use.
func (f *fit) share(t *track, levels []level) {
	n := len(f.levels)
	f.cov = newMatrix(n)
	// parts holds a row of n for each baseline that is used: its part in each
	// level's expectation, in ns.
	type key struct{ run, j int }
	row := map[key]int{}
	var parts []float64
	buf := make([]share, 0, 2*t.k)
	for l, lv := range levels {
		for i := range lv.trials {
			tr := &lv.trials[i]
			weight := f.levels[l].theta * tr.exposure
			buf, _ = t.segments[tr.run].shares(tr.pos, -1, t.k, buf[:0])
			for _, sh := range buf {
				at, ok := row[key{tr.run, sh.j}]
				if !ok {
					at = len(parts)
					row[key{tr.run, sh.j}] = at
					parts = append(parts, make([]float64, n)...)
				}
				part := weight * sh.part
				parts[at+l] += part
				f.cov.add(l, l, -part*part)
			}
		}
	}
	for at := 0; at < len(parts); at += n {
		for a, x := range parts[at : at+n] {
			if x == 0 {
				continue
			}
			for b, y := range parts[at : at+n] {
				f.cov.add(a, b, x*y)
			}
		}
	}
	for i := range f.cov.a {
		f.cov.a[i] *= t.variance
	}
}

// priorDF is how many degrees of freedom the noise that the rest of the run
// shows counts for when a unit's own is estimated. The idea is that of moderated
// t statistics (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004): many units with
// few experiments each tell each other how noisy the machine is. Simulated:
// fewer make intervals of units with three experiments uselessly wide, more make
// those of units noisier than the rest too short.
const priorDF = 4

// pooledNoise is the λ that the fits have in common.
func pooledNoise(fits []*fit) float64 {
	ss, df := priorDF*1.0, float64(priorDF) // the prediction itself
	for _, f := range fits {
		if f.ssDF == 0 {
			continue
		}
		w := min(f.ssDF, 20) // no unit alone decides
		ss += w * f.ss / f.ssDF
		df += w
	}
	// Less than the baselines' own noise would be luck.
	return math.Max(0.5, ss/df)
}

// levelDF is how many degrees of freedom a unit's noise counts for when that of
// one of its levels is estimated. The noise may well be another at another level:
// where a curve is flat, delays more or less make no difference.
const levelDF = 6

// finish adds the noise and sets the slope. trackDF is how well the baselines'
// noise is known.
func (f *fit) finish(pooled, trackDF float64) {
	if f.total == 0 {
		return
	}
	unit := (priorDF*pooled + f.ss) / (priorDF + f.ssDF)
	f.df = f.ssDF + min(priorDF, trackDF)
	var den float64
	for l := range f.levels {
		s := &f.levels[l]
		lambda := unit
		if s.n > 1 {
			lambda = (levelDF*unit + s.ss) / (levelDF + float64(s.n-1))
		}
		f.cov.add(l, l, lambda*s.predicted)
		y, _ := s.gain()
		u := float64(s.speedup) / 100
		f.slope += s.weight * u * y
		den += s.weight * u * u
	}
	f.slope /= den
	variance := 0.0
	for a := range f.levels {
		for b := range f.levels {
			variance += f.slopeWeight(a) * f.slopeWeight(b) * f.cov.at(a, b)
		}
	}
	f.slopeSD = math.Sqrt(math.Max(0, variance)) / den
}

// slopeWeight is by how much a surplus of one at a level changes the sum that is
// the slope's numerator.
func (f *fit) slopeWeight(l int) float64 {
	s := &f.levels[l]
	return s.weight * float64(s.speedup) / 100 / s.scale()
}
