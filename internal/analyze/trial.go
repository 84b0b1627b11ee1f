package analyze

import (
	"math"
	"slices"
)

// A trial is one experiment of one unit, seen at one point.
type trial struct {
	run, pos           int     // position in the track: its segment, and the next baseline there
	exp                int     // index in the run's experiments
	speedup            int     // that was asked for; of placebos, see byDelay
	time               float64 // W: effective time, perhaps clipped by winsorise
	raw                float64 // W before clipping
	size               float64 // length of the window, if W is not that: see observation
	expected           float64 // X: the time that its visits take at the baselines' period
	usual              float64 // time of a baseline that is seen in the same way
	real               float64 // R: real time of the part that the window covers
	weight             float64 // in the slope
	visits             float64
	part               float64 // part of the experiment's time that the window covers
	delay              float64 // D: virtual delay in that part, beyond that of baselines
	delayBias          float64 // part of expected that was subtracted for the bias, see delaybias.go
	baselineDelayShare float64 // of baselines with as many ticks
	// granule is the delay that one tick adds: the speed-up times the time between two ticks.
	granule float64
	squares float64 // Σ of the squared shares that baselines have in expected; 0 if paired

	samples float64 // samples of the unit in that part
	partner int     // baseline that was drawn with it, as index in the segment, or -1
	paired  bool    // the surplus of its partner was subtracted, see phase.go

	linear   bool    // the gain is (X-W)/Y, see phase.go; otherwise it is 1 - W/X
	fitted   float64 // θ: the ratio W/X that its unit has here, to find outliers
	exposure float64 // x: what X would be without noise
	variance float64 // predicted variance of (W-θX)/x
}

// sensitivity is by how much the trial's surplus changes with X.
func (tr *trial) sensitivity(theta float64) float64 {
	if tr.linear {
		return 1
	}
	return theta
}

// The ratio θ = W/X of a trial is the program's period with the unit sped up, over its period
// without; the gain is 1 - θ. Several trials have the ratio of their sums, ΣW/ΣX. So gains of
// different phases of the program are averaged by the time that the phases take, as equation 8
// does.

// collect makes the trials of the experiments of one target.
func (in *input) collect(t *track, target int, see view) []trial {
	var trials []trial
	for _, o := range in.bySpeedup(target) {
		d := in.runs[o.run]
		e := &d.Experiments[o.exp]
		v, ok := see(o.run, e)
		if !usable(e) || !ok {
			continue
		}
		s := &t.segments[o.run]
		delay, real := float64(max(0, e.DelayNS)), float64(e.RealNS)
		usual := in.baselineDelayShare[o.run][e.TicksEach()]
		tr := trial{run: o.run, pos: s.position(o.exp), exp: o.exp, speedup: e.Speedup,
			time: v.time, raw: v.time, visits: v.visits, size: v.size, part: 1, real: real,
			samples: float64(participation(&d.Run, e)[e.Unit]), partner: s.find(in.partner[o.run][o.exp]),
			delay: max(0, delay-usual*real), baselineDelayShare: usual,
			granule: float64(e.Speedup) / 100 * float64(d.Run.PeriodNS) / float64(e.TicksEach())}
		tr.weight = tr.real
		// The window fades in and out: it covers a part of the effective time, and the same part of
		// the real time and of the delay.
		if effective := real - delay; effective > 0 && v.window() > 0 {
			tr.part = min(1, v.window()/effective)
		}
		tr.real *= tr.part
		tr.delay *= tr.part
		tr.samples *= tr.part
		if d.Run.WholeRuns { // a short run counts as much as a long one
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
	if isPlacebo(in.targets[target]) {
		byDelay(trials)
	}
	return trials
}

// byDelay makes the speed-up of placebos what they delayed beyond baselines, in percent of the time: they are asked for
// delays that include what whatif's own cost takes, which baselines have, too.
func byDelay(placebos []trial) {
	if delayed(placebos) == 0 {
		return // no delays were recorded
	}
	for _, asked := range byLevel(placebos) {
		percent := int(math.Round(100 * min(1, delayed(asked.trials))))
		for i := range asked.trials {
			asked.trials[i].speedup = max(1, percent)
		}
	}
	slices.SortStableFunc(placebos, func(a, b trial) int { return a.speedup - b.speedup })
}

// bySpeedup is the experiments of a target, sorted by speed-up; those with the same one are in the order of time.
func (in *input) bySpeedup(target int) []occasion {
	tried := slices.Clone(in.tried[target])
	slices.SortStableFunc(tried, func(a, b occasion) int {
		return in.runs[a.run].Experiments[a.exp].Speedup - in.runs[b.run].Experiments[b.exp].Speedup
	})
	return tried
}

// expose sets exposure and predicted variance of a trial with the ratio theta.
//
// The variance has three parts: that of the trial's own window, which is taken to be as noisy as a
// baseline's; that of the baselines it is compared with; and that of the delay. The delay comes in
// granules, one for each tick. If samples fell at random, their number in the unit would be
// binomial, with a variance of delay times granule times the part of the time that is not the
// unit's. Sampling at fixed times is more even, so this is an upper bound. effect is the part of a
// delay that becomes a gain. It is 1 if the unit is all that matters. It is 0 if the unit does not
// matter, since then a delay more or less stretches real time and virtual delay alike.
func (tr *trial) expose(t *track, theta, effect float64) {
	tr.fitted = theta
	tr.exposure = tr.real
	if theta >= 0.2 { // below, W is too small for an estimate
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
	windows := tr.usual / tr.exposure
	if tr.paired {
		windows *= 2
	}
	by := tr.sensitivity(theta)
	tr.variance = by*by*t.variance*(windows+tr.squares) + granules + leastVariance
}

// effectLeast and effectMost bound the effect of delays, which is itself an estimate.
const effectLeast, effectMost = 0.25, 1.25

// leastVariance is that of a tenth of a percentage point. It keeps noiseless data from dividing by
// zero. No measurement is that good.
const leastVariance = 1e-6

// winsorise clips trials that lie further than clipAt standard deviations from what their unit
// does, and returns how many.
//
// Near each speed-up, the unit is taken to have a gain in proportion to the delay that really arose
// in the trial: a unit that ran in some trials only has a gain in those only, and those are no
// outliers. If no delays were recorded, the gain is in proportion to the speed-up. The factor is
// the weighted median over the trials, which half of them cannot spoil.
//
// If trials have few visits (fewVisitsPerWindow), chance makes the outliers and the fit is poor, so
// such trials are not clipped.
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
	if window < fewVisitsPerWindow*t.period() {
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
	// The scale is that of the trials. Few trials tell it badly, so the predicted scale (1 for z)
	// counts as three of them.
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
	first   int // index of its first trial among all trials
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

// proportion is the factor between gain and cause around a level: from the level itself and from
// its neighbours on both sides, until there are five trials.
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
