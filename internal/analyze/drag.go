package analyze

import (
	"math"
	"slices"
)

// A drag is what delays do to a point by themselves, whatever they make faster, as placebos tell it. It counts in
// both directions, by how probable it is, so nothing jumps where it becomes sure; and what stays in doubt is in the
// intervals.
//
// A loss of placebos is a loss of all code: memory gets cold while the program is stopped, or work that the clock
// starts comes too often in virtual time. The loss is taken off from gains.
//
// A gain of placebos is time in which a delay does not slow the point down, mostly because a thread sleeps by the
// clock meanwhile. Code that this thread does not wait for has as much in its gain, and no more than that; of code
// that it waits for the gain is right as it is. Placebos cannot tell the two apart. So gains stay as they are, and
// their intervals reach down by what placebos gain (docs/design/0014-placebos.md has the figures of other choices).
type drag struct {
	// To be taken off from gains where delays for nothing take 0, 1, … 100% of the time; none is more than 0. The
	// standard deviation of that by the placebos' noise; and by the doubt whether there is any.
	gain, sd, doubt []float64
	over            []float64 // standard deviation of what gains may be too high by
	df              float64
	sure            bool // more than the margin is lost, and that is no chance
}

const (
	// dragPrior is how probable a drag is before placebos tell. In the suite of accuracy/ nine of ten intervals hold
	// the truth with no regard to drags, so at most one program in ten has one that matters.
	dragPrior = 0.1
	// dragSize is how large one is, if there is one, as a part of the delays: the standard deviation beforehand.
	// Those that are known lie between 0.2 and 0.8.
	dragSize = 0.5
	// dragOver is what part of a placebo's gain is in that of code, as a root mean square, if nothing is known but
	// that it is all or nothing more likely than half: of the distribution Beta(1/2, 1/2). The interval reaches down
	// by 1.2 of what placebos gain.
	dragOver = 0.612
	// mostOver keeps a curve that is drawn out to delays that no placebo made from leaving no time at all.
	mostOver = 0.9
)

// drag is nil where placebos tell nothing.
func (told nothing) drag(margin float64) *drag {
	f := told.fit
	if f.total < leastTrials || math.IsNaN(told.gain) || !(told.half > 0) || math.IsInf(told.half, 1) {
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
	n := len(shares)
	d := &drag{gain: make([]float64, n), sd: make([]float64, n), doubt: make([]float64, n), over: make([]float64, n),
		df: f.df, sure: told.gain+told.half < -margin}
	w := told.belief()
	for i := range shares {
		gain, sd := c.mean[len(f.levels)+i], c.sd[len(f.levels)+i]
		if told.gain > 0 {
			gain = math.Min(mostOver, math.Max(0, gain))
			d.over[i] = dragOver * math.Sqrt(w) * math.Hypot(gain, sd) / (1 - w*gain) // of the time that is left without it
			continue
		}
		gain = math.Min(0, gain)
		d.gain[i], d.sd[i], d.doubt[i] = w*gain, w*sd, math.Sqrt(w*(1-w))*math.Hypot(gain, sd)
	}
	return d
}

// belief is how probable it is that delays do anything to the point by themselves: by Bayes' rule, if what they do
// is 0 or else normal with a standard deviation of dragSize. That its noise is known by few degrees of freedom makes
// the noise larger here.
func (told nothing) belief() float64 {
	noise, size := told.half/normalQuantile(alpha), dragSize*told.kept
	none, some := noise*noise, noise*noise+size*size
	odds := dragPrior / (1 - dragPrior) * math.Sqrt(none/some) * math.Exp(told.gain*told.gain/2*(1/none-1/some))
	return 1 - 1/(1+odds)
}

// at is one of the drag's figures where delays take that share of the time.
func (d *drag) at(share float64, of []float64) float64 {
	x := 100 * math.Min(1, math.Max(0, share))
	i := min(int(x), len(of)-2)
	w := x - float64(i)
	return (1-w)*of[i] + w*of[i+1]
}

// correct makes the units' fits anew, without the drag. The placebo's stays as it is: it shows what there is to
// correct. Where there is nothing to be taken off, the fits stay, and have the doubt.
func (in *input) correct(d *drag, k int, t *track, fits []*fit, phases []phasing) {
	lost := slices.ContainsFunc(d.gain, func(gain float64) bool { return gain < 0 })
	for u := range fits {
		if isPlacebo(in.targets[u]) {
			continue
		}
		left := in.dragLeft(u)
		if lost {
			trials := in.collect(t, u, in.visits(k))
			for i := range trials {
				tr := &trials[i]
				tr.drag = d.at(tr.delay/tr.real*left(float64(tr.speedup)/100), d.gain)
				tr.expected *= 1 - tr.drag
			}
			fits[u] = trialsFit(t, trials, &phases[u])
		}
		fits[u].drag, fits[u].dragLeft = d, left
	}
}

// dragLeft is how much of the drag there is while a unit is sped up by so much. If what the clock has the program do
// comes too often, that costs the others the less the faster it is. Its part of the unit's samples tells how much of
// the unit it is.
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

// dragged is what the drag adds to the uncertainty of a gain. noise is believed to be known by the fit's degrees of
// freedom.
func (f *fit) dragged(speedup, gain float64) (noise, doubt, over float64) {
	d := f.drag
	if d == nil {
		return 0, 0, 0
	}
	share := f.delayEach() * speedup * f.dragLeft(speedup)
	part := 1 - gain // of the expected time is left; see phase.go for the other
	if f.phase != 1 {
		part = f.phase
	}
	part /= 1 - d.at(share, d.gain)
	noise = part * d.at(share, d.sd) * tQuantile(alpha, d.df) / tQuantile(alpha, f.df)
	return noise, part * d.at(share, d.doubt), part * d.at(share, d.over)
}
