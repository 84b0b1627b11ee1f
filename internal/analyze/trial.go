package analyze

import (
	"math"
	"slices"
)

// A trial is one experiment of one unit as one point saw it.
type trial struct {
	run, pos int // where in the track: the segment, and the baseline that comes next
	exp      int // of the run's experiments
	speedup  int
	time     float64 // W: effective, perhaps drawn in, see winsorise
	raw      float64 // W as it was
	size     float64 // of the window, where W is not that: see observation
	expected float64 // X: the time that its visits take at the baseline's period
	real     float64 // R: on the wall clock, as far as the window goes
	weight   float64 // in the slope
	visits   float64
	part     float64 // of the experiment's time that the window covers
	delay    float64 // D: virtual delay, likewise, beside what there is in baselines
	drag     float64 // the part of expected that was taken off for it, see drag.go
	always   float64 // the part of its kind of baselines' time that is delay
	// granule is the delay that one tick adds: speed-up times the time between two.
	granule float64
	squares float64 // of the shares that baselines have in expected; 0 if it is paired

	samples float64 // of the unit, likewise
	partner int     // baseline that was drawn with it, in the segment, or -1
	paired  bool    // its surplus was subtracted, see phase.go

	fitted   float64 // θ: the ratio W/X that its unit has here, for outliers
	exposure float64 // x: what X is without noise
	variance float64 // predicted, of (W-θX)/x
}

// The ratio θ = W/X of a trial is the program's period with the unit sped up
// over its period without; the gain is 1 - θ. Several trials have the ratio of
// their sums, ΣW/ΣX. With that order of summing, gains of different phases of
// the program are averaged by the time that the phases take, as equation 8 does.

// collect makes the trials of the experiments of one target.
func (in *input) collect(t *track, target int, see view) []trial {
	var trials []trial
	for _, o := range in.tried[target] {
		d := in.runs[o.run]
		e := &d.Experiments[o.exp]
		v, ok := see(o.run, e)
		if !usable(e) || !ok {
			continue
		}
		s := &t.segments[o.run]
		delay, real, always := float64(max(0, e.DelayNS)), float64(e.RealNS), in.always[o.run][e.TicksEach()]
		tr := trial{run: o.run, pos: s.position(o.exp), exp: o.exp, speedup: e.Speedup,
			time: v.time, raw: v.time, visits: v.visits, size: v.size, part: 1, real: real, samples: float64(tookPart(&d.Run, e)[e.Unit]),
			partner: s.find(in.partner[o.run][o.exp]), delay: max(0, delay-always*real), always: always,
			granule: float64(e.Speedup) / 100 * float64(d.Run.PeriodNS) / float64(e.TicksEach())}
		tr.weight = tr.real
		// The window fades in and out: it covers a part of the effective time, and
		// as much of the real time and of the delay belongs to it.
		if effective := real - delay; effective > 0 && v.window() > 0 {
			tr.part = min(1, v.window()/effective)
		}
		tr.real *= tr.part
		tr.delay *= tr.part
		tr.samples *= tr.part
		if d.Run.WholeRuns { // a shorter run is not less of one
			tr.weight = t.mean
		}
		period, _ := s.expect(tr.pos, -1, t.k)
		if period == 0 {
			continue // nothing to compare with
		}
		tr.expected = v.visits * period * t.bias
		_, tr.squares = s.shares(tr.pos, -1, t.k, nil)
		trials = append(trials, tr)
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return a.speedup - b.speedup })
	return trials
}

// expose sets exposure and predicted variance of a trial whose ratio is theta.
//
// The variance has three parts: that of the trial's own window, taken to be as
// noisy as a baseline's; that of the baselines it is compared with; and that of
// the delay, which comes in granules, one a tick. If samples fell at random,
// their number in the unit would be binomial, with a variance of delay times
// granule times the part of the time that is not the unit's; sampling by the
// clock is more even than that, so this is an upper bound. effect is how much of
// a delay becomes a gain: all of it (1) where the unit is all that matters, and
// nothing where it does not matter, since then a delay more or less stretches
// real time and virtual delay alike.
func (tr *trial) expose(t *track, theta, effect float64) {
	tr.fitted = theta
	tr.exposure = tr.real
	if theta >= 0.2 { // below, W is too small to tell
		tr.exposure = min(tr.raw/theta, max(tr.real, tr.raw))
	}
	if tr.size > 0 {
		tr.exposure = tr.size
	}
	tr.exposure = max(tr.exposure, 1)
	busy := 0.0
	if tr.speedup > 0 {
		busy = min(1, tr.delay/tr.real*100/float64(tr.speedup))
	}
	effect = min(effectMost, max(effectLeast, math.Abs(effect)))
	granules := effect * effect * tr.granule * tr.delay * (1 - busy) / (tr.exposure * tr.exposure)
	windows := t.mean / tr.exposure
	if tr.paired {
		windows *= 2
	}
	tr.variance = theta*theta*t.variance*(windows+tr.squares) + granules + leastVariance
}

// The effect of delays is itself an estimate: it is kept within sane limits.
const effectLeast, effectMost = 0.25, 1.25

// leastVariance, that of a tenth of a point, keeps noiseless data from dividing
// by zero. No measurement is that good.
const leastVariance = 1e-6

// winsorise draws in trials that lie further from what their unit does than
// clipAt standard deviations, and returns how many.
//
// What the unit does is taken to be, near each speed-up, a gain in proportion to
// the delay that really arose in the trial: a unit that ran in some trials only
// has a gain in those only, and those are no outliers. Where no delays were
// recorded the proportion is to the speed-up. The factor is the weighted median
// over the trials, robust against half of them.
//
// Where a trial has few visits (fewAVisit), chance makes the outliers, and there
// is no fit to speak of: such trials stay as they are.
func winsorise(t *track, trials []trial) int {
	delayed := slices.ContainsFunc(trials, func(tr trial) bool { return tr.delay > 0 })
	cause := func(tr *trial) float64 {
		if delayed && tr.real > 0 {
			return min(1, tr.delay/tr.real)
		}
		return float64(tr.speedup) / 100
	}
	levels := byLevel(trials)
	z := make([]float64, len(trials))
	var window float64
	for i := range trials {
		window += trials[i].real / float64(len(trials))
	}
	if window < fewAVisit*t.period() {
		return 0
	}
	for l := range levels {
		factor := proportion(levels, l, cause)
		for i := range levels[l].trials {
			tr := &levels[l].trials[i]
			tr.expose(t, math.Max(0, 1-factor*cause(tr)), factor)
			z[levels[l].first+i] = (tr.raw - tr.fitted*tr.expected) / (tr.exposure * math.Sqrt(tr.variance))
		}
	}
	// The scale is the trials' own, but few trials tell it badly: the predicted
	// one (1 for z) counts like three.
	n := float64(len(trials))
	mad := spread(z)
	scale := math.Sqrt((3 + n*mad*mad) / (3 + n))
	bound := clipAt * scale
	clipped := 0
	for i := range trials {
		tr := &trials[i]
		tr.time = tr.raw
		limit := bound * tr.exposure * math.Sqrt(tr.variance)
		if d := tr.raw - tr.fitted*tr.expected; math.Abs(d) > limit {
			tr.time = tr.fitted*tr.expected + math.Copysign(limit, d)
			clipped++
		}
	}
	return clipped
}

// A level is the trials of a unit with one speed-up.
type level struct {
	speedup int
	first   int // index of its first trial among all
	trials  []trial
}

// byLevel splits trials, which are sorted by speed-up.
func byLevel(trials []trial) []level {
	var levels []level
	for i := 0; i < len(trials); {
		j := i
		for j < len(trials) && trials[j].speedup == trials[i].speedup {
			j++
		}
		levels = append(levels, level{trials[i].speedup, i, trials[i:j]})
		i = j
	}
	return levels
}

// proportion is the factor between gain and cause around a level: from the level
// itself and, until there are five trials, its neighbours on both sides.
func proportion(levels []level, l int, cause func(*trial) float64) float64 {
	const enough = 5
	var pairs []weighted
	lo, hi := l, l
	add := func(lv *level) {
		for i := range lv.trials {
			tr := &lv.trials[i]
			if c := cause(tr); c > 0 && tr.raw > 0 {
				gain := 1 - tr.raw/math.Max(tr.expected, tr.raw/20)
				pairs = append(pairs, weighted{gain / c, c})
			}
		}
	}
	add(&levels[l])
	for len(pairs) < enough && (lo > 0 || hi < len(levels)-1) {
		if lo > 0 {
			lo--
			add(&levels[lo])
		}
		if hi < len(levels)-1 {
			hi++
			add(&levels[hi])
		}
	}
	return weightedMedian(pairs)
}
