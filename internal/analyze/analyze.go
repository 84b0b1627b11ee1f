// Package analyze draws conclusions from experiments: for each unit and progress point, how much
// the program gains when the unit is made faster, with a 95% interval and a verdict. It is pure: it
// reads no files and no clock and uses no randomness, so the same records give the same numbers.
//
// The normal sequence is profile.Read, Analyze, and then package report, which writes the result
// for people and programs. Analyze is cheap (a millisecond for a run of a minute), so it can also
// be called while a run goes on. Package diff below compares two profiles.
//
// # Method
//
// All estimates are in terms of periods: effective time over visits.
//
//   - The baselines next to an experiment, in the same run, tell what its period would have been
//     without the speed-up (baseline.go). How well the baselines predict each other decides how
//     many of them are used. So drift of the machine's speed is followed, and the noise of single
//     windows is averaged out.
//   - An experiment compares the time it took with the time that its visits would have taken.
//     Several experiments add up both times before they are divided (trial.go). So experiments
//     without a visit count like any others, and the estimate is the change of the program's
//     throughput in the long run, not that of a typical moment.
//   - Rare far outliers among baselines and experiments are clipped to a bound (winsorised). What
//     happens in a tenth of all windows is no outlier.
//   - The noise of a unit's experiments is estimated from their scatter, moderated by that of the
//     baselines and the other units (noise.go). Intervals are Student's, with the degrees of
//     freedom that this leaves. They account for baselines that several experiments are compared
//     with (shared.go).
//   - The curve over the speed-ups borrows strength from neighbouring speed-ups (curve.go). The
//     slope is that of the best straight line through the origin.
//   - Intervals include the error that virtual speed-ups have by themselves. It was measured on
//     programs that were really made faster (method.go).
//   - If a unit was tried only in its own phase of the program, its gains are corrected for that
//     (phase.go).
//   - Placebos show what delays do by themselves, and gains are corrected for that (delaybias.go,
//     paced.go).
//
// Why not a bootstrap: with 3 to 12 experiments a level, the 95% intervals of the percentile
// bootstrap (over pairs of experiment and baseline) hold the truth in 68 to 91% of all cases. Their
// estimates scatter more, since each experiment is compared with one baseline. The intervals of
// this package hold the truth in 93 to 97%, except in the cases that docs/statistics.md lists.
// TestCoverage simulates both and prints the table.
//
// # Assumptions
//
// The unit and speed-up of each experiment were drawn at random, so experiments and baselines
// differ in nothing else on average. Noise of different windows is independent, except for drift
// that neighbours share. Several runs are taken to be of the same program. If their results for a
// unit certainly differ by more than their noise, the unit's intervals are widened by as much
// (disagree.go).
package analyze

import (
	"math"
	"slices"

	"whatif/internal/profile"
)

// Options are choices of the analysis. The zero value is the default.
type Options struct {
	// Margin is the gain, in percentage points, that is not worth having: smaller effects, on
	// either side of zero, count as none. 0 stands for DefaultMargin.
	Margin float64
	// Simulated says that no program was delayed for these data. Then intervals do not include the
	// error that virtual speed-ups have by themselves (method.go).
	Simulated bool
	// Trials asks for Effect.Trials.
	Trials bool
}

// DefaultMargin is about the systematic error of virtual speed-ups.
const DefaultMargin = 2

// Alpha is the probability that an interval misses: one minus its confidence.
const Alpha = 0.05

// Analyze estimates the effects of all units from all runs together.
func Analyze(runs []*profile.Data, opt Options) *Result {
	if opt.Margin <= 0 {
		opt.Margin = DefaultMargin
	}
	in := newInput(runs)
	res := &Result{Points: in.points, Targets: in.targets, SetAside: map[string]int{}, Margin: opt.Margin, in: in}
	in.count(res)
	in.measureShares(res)
	phases := in.phases()
	for u := range in.targets {
		in.targets[u].Effects = make([]Effect, len(in.points))
	}
	for k := range in.points {
		in.effects(k, phases, opt)
	}
	res.Latencies = in.latencyEffects(opt)
	in.addWarnings(res)
	res.markNeverVisited()
	res.separatePlacebo()
	rank(res.Targets)
	return res
}

// effects sets every target's effect on point k. If the point is paced, effects are in real time;
// if delays bias it, they are corrected.
func (in *input) effects(k int, phases []phasing, opt Options) {
	t, fits := in.fitPoint(in.visits(k), in.whole(k), phases)
	if placebo := placeboOf(in.targets); placebo >= 0 {
		p := in.placeboEffect(placebo, in.visits(k), t, fits, phases)
		if clock, clocked, allowed := in.paced(k, placebo, p, phases, opt.Margin); clock != nil {
			in.points[k].Paced = true
			t, fits = clock, clocked
			opt.Margin = 2 * allowed // the remaining effect of placebos in real time counts as none
		} else if b := p.delayBias(opt.Margin); b != nil {
			in.points[k].DelayBiased = b.certain
			in.correct(b, k, t, fits, phases)
		}
	}
	in.pointFacts(&in.points[k], t)
	in.conclude(t, fits, opt, func(u int) *Effect {
		e := &in.targets[u].Effects[k]
		e.Point, e.Metric = k, Throughput
		return e
	})
}

// fitPoint fits with outliers clipped, or without if there are too many of them to be outliers.
func (in *input) fitPoint(see, whole view, phases []phasing) (*track, []*fit) {
	t, fits := in.fit(see, whole, phases, true)
	windows, clipped := t.count, t.clipped
	for _, f := range fits {
		windows += f.total
		clipped += f.clipped
	}
	if float64(clipped) > clipShare*float64(windows) {
		return in.fit(see, whole, phases, false)
	}
	return t, fits
}

// conclude turns the fits into effects.
func (in *input) conclude(t *track, fits []*fit, opt Options, effect func(u int) *Effect) {
	pooled := pooledNoise(fits)
	table := make([]*Effect, len(fits))
	tried := 0
	for _, f := range fits {
		if f.total > 0 {
			tried++
		}
	}
	judged := make([]*Effect, 0, len(fits))
	for u, f := range fits {
		f.finish(pooled, t.df, tried)
		e := effect(u)
		e.Experiments = f.total
		e.fill(f, t, opt.Simulated)
		if in.targets[u].Unit.Kind == profile.Together {
			e.onlyWhole()
		}
		table[u] = e
		if isPlacebo(in.targets[u]) {
			judge([]*Effect{e}, opt.Margin) // a placebo is not among the units compared for the largest effect
		} else {
			judged = append(judged, e)
		}
	}
	among := judge(judged, opt.Margin)
	for u, f := range fits {
		e := table[u]
		if f.delayBias == nil || !f.delayBias.certain { // otherwise the bias may have made it
			e.Shape, e.ShapeAt = f.shape(e.Verdict, opt.Simulated)
		}
		e.Reason = e.reason(among, opt.Margin)
		if opt.Trials {
			e.Trials = f.single()
		}
		in.effectWarnings(e, u, t, f)
	}
}

// fit measures the baselines and sums up the experiments of each target, whole ones of those that run in phases.
func (in *input) fit(see, whole view, phases []phasing, clip bool) (*track, []*fit) {
	t := newTrack(in.segments(see), clip)
	if slices.ContainsFunc(phases, func(p phasing) bool { return p.phased }) {
		t.whole = meanLength(in.segments(whole))
	}
	fits := make([]*fit, len(in.targets))
	for u := range in.targets {
		fits[u] = trialsFit(t, in.collect(t, u, phases[u].view(see, whole)), &phases[u])
	}
	return t, fits
}

// leastTrials is how many experiments of a unit an interval needs. With two, it would rest on the
// noise of other experiments alone.
const leastTrials = 3

// fill turns a fit into estimates in percent.
func (e *Effect) fill(f *fit, t *track, simulated bool) {
	e.Curve, e.Marks, e.Phase = []Level{}, []Level{}, f.phase
	if f.total == 0 {
		return
	}
	bounded := f.total >= leastTrials && t.df >= 2
	// estimate converts fractions to percent.
	estimate := func(speedup, value, sd float64) (Estimate, uncertainty) {
		v := 100 * value
		noise, exists, over := f.biasUncertainty(speedup, value)
		sd = math.Hypot(sd, noise)
		s := uncertainty{noise: 100 * math.Hypot(sd, value*math.Sqrt(f.phaseVariance)), df: f.df, over: 100 * over}
		if !simulated {
			s.method = 100 * methodError(speedup, value)
		}
		s.method = math.Hypot(s.method, 100*exists)
		est := Estimate{Value: v, Known: !math.IsNaN(v) && !math.IsInf(v, 0)}
		if h := s.half(Alpha); est.Known && bounded && !math.IsNaN(h) && h < 1e6 {
			est.Low, est.High, est.Bounded = v-h, v+s.above(), true
		}
		return est, s
	}
	e.Slope, e.uncertainty = estimate(0.01, f.slope/100, f.slopeSD/100)
	e.Curve = append(e.Curve, Level{Speedup: 0, Experiments: t.count,
		Gain: Estimate{Known: true, Bounded: true}, Raw: Estimate{Known: true, Bounded: true}})
	n := len(f.levels)
	more, marks := f.marks()
	c, ok := f.curve(f.gainCov(), more)
	gain := func(i, speedup int) (est Estimate, s uncertainty) {
		if ok {
			est, s = estimate(float64(speedup)/100, c.mean[i], c.sd[i])
		}
		return est.AtMost(100), s
	}
	for l := range f.levels {
		s := &f.levels[l]
		lv := Level{Speedup: s.speedup, Experiments: s.n}
		lv.Gain, lv.uncertainty = gain(l, s.speedup)
		if s.expected > 0 {
			sd := math.Sqrt(f.cov.at(l, l)) / s.expected
			lv.Raw, lv.rawUncertainty = estimate(float64(s.speedup)/100, 1-s.time/s.expected, sd)
			lv.Raw = lv.Raw.AtMost(100)
			lv.Raw.Bounded = lv.Raw.Bounded && s.n >= leastTrials
			if !lv.Raw.Bounded {
				lv.Raw.Low, lv.Raw.High = 0, 0
			}
		}
		e.Curve = append(e.Curve, lv)
	}
	for i, mark := range marks {
		lv := Level{Speedup: mark, Experiments: experimentsAt(f.levels, mark)}
		lv.Gain, lv.uncertainty = gain(n+i, mark)
		e.Marks = append(e.Marks, lv)
	}
}

// marks are the quarters that the curve reaches, as fractions and in percent. The curve may be
// extended beyond its last level by markBeyond; the interval shows how little is known there.
func (f *fit) marks() (at []float64, marks []int) {
	const markBeyond = 10
	for mark := 25; mark <= 100; mark += 25 {
		if mark <= f.levels[len(f.levels)-1].speedup+markBeyond {
			at = append(at, float64(mark)/100)
			marks = append(marks, mark)
		}
	}
	return at, marks
}

// onlyWhole leaves the speed-up of 100% alone: a part of a combination was not tried, and means nothing.
func (e *Effect) onlyWhole() {
	e.Marks = slices.DeleteFunc(e.Marks, func(l Level) bool { return l.Speedup != 100 })
}

func experimentsAt(levels []levelSum, speedup int) int {
	if l := slices.IndexFunc(levels, func(s levelSum) bool { return s.speedup == speedup }); l >= 0 {
		return levels[l].n
	}
	return 0
}
