package analyze

import "math"

// A drag is what delays cost a point by themselves, whatever they make faster: memory gets cold while the program is stopped, or what the
// clock has it do comes too often in virtual time. Placebos tell it, and gains are corrected for it.
//
// What seems to be gained by delays is not taken off: who sleeps by the clock may gain by delays for nothing what it owes in them, and owe
// nothing while it, or what it waits for, is what is sped up.
type drag struct {
	gain, sd []float64 // where delays for nothing take 0, 1, … 100% of the time; no gain is more than 0
	df       float64
}

// drag is nil where placebos do not tell surely that there is one beyond the margin: a correction for what is only noise would add that
// to all gains.
func (told nothing) drag(margin float64) *drag {
	f := told.fit
	if !(f.total >= leastTrials && told.gain+told.half < -margin) {
		return nil
	}
	each := f.delayEach() // a placebo's percentage is not quite what it then delays beside baselines
	if !(each > 0) {
		return nil
	}
	shares := make([]float64, 101)
	for i := range shares {
		shares[i] = float64(i) / 100 / each
	}
	c, ok := f.curve(f.gainCov(), shares)
	if !ok {
		return nil
	}
	n := len(f.levels)
	d := &drag{gain: c.mean[n:], sd: c.sd[n:], df: f.df}
	for i, gain := range d.gain {
		d.gain[i] = math.Min(0, gain)
	}
	return d
}

// at is the drag where delays take that share of the time.
func (d *drag) at(share float64) (gain, sd float64) {
	x := 100 * math.Min(1, math.Max(0, share))
	i := min(int(x), len(d.gain)-2)
	w := x - float64(i)
	return (1-w)*d.gain[i] + w*d.gain[i+1], (1-w)*d.sd[i] + w*d.sd[i+1]
}

// correct makes the units' fits anew, without the drag. The placebo's stays as it is: it shows what there is to correct.
func (in *input) correct(d *drag, k int, t *track, fits []*fit, phases []phasing) {
	for u := range fits {
		if isPlacebo(in.targets[u]) {
			continue
		}
		trials := in.collect(t, u, in.visits(k))
		left := in.dragLeft(u)
		for i := range trials {
			tr := &trials[i]
			tr.drag, _ = d.at(tr.delay / tr.real * left(float64(tr.speedup)/100))
			tr.expected *= 1 - tr.drag
		}
		fits[u] = trialsFit(t, trials, &phases[u])
		fits[u].drag, fits[u].dragLeft = d, left
	}
}

// dragLeft is how much of the drag there is while a unit is sped up by so much. If what the clock has the program do comes too often,
// that costs the others the less the faster it is. Its part of the unit's samples tells how much of the unit it is.
func (in *input) dragLeft(u int) func(speedup float64) float64 {
	var all, soon float64
	for _, o := range in.tried[u] {
		e := &in.runs[o.run].Experiments[o.exp]
		if usable(e) {
			all += float64(e.UnitSamples[e.Unit])
			soon += float64(e.TooSoon)
		}
	}
	part := math.Min(1, soon/math.Max(1, all))
	return func(speedup float64) float64 { return 1 - speedup*part }
}

// delayEach is how much of the time was delay, beside baselines, for a speed-up of 1.
func (f *fit) delayEach() float64 {
	var sum float64
	for i := range f.trials {
		sum += float64(f.trials[i].speedup) / 100
	}
	return delayed(f.trials) * float64(f.total) / sum
}

// dragged is what the drag's own uncertainty adds to that of a gain, which is believed to be known by the fit's degrees of freedom.
func (f *fit) dragged(speedup, gain float64) float64 {
	if f.drag == nil {
		return 0
	}
	corrected, sd := f.drag.at(f.delayEach() * speedup * f.dragLeft(speedup))
	part := 1 - gain // of the expected time is left; see phase.go for the other
	if f.phase != 1 {
		part = f.phase
	}
	return part * sd / (1 - corrected) * tQuantile(alpha, f.drag.df) / tQuantile(alpha, f.df)
}
