package analyze

import (
	"math"
	"slices"

	"whatif/internal/analyze/student"
)

// A delayBias is what delays do to a point by themselves, whatever they make faster. Placebos measure
// it. It counts in both directions and in proportion to its probability, so no result jumps when the
// bias becomes certain. The rest of the doubt is in the intervals.
//
// A loss of placebos is a loss of all code: memory gets cold while the program is stopped, or work
// that a clock starts comes too often in virtual time. The loss is subtracted from gains.
//
// A gain of placebos is time in which a delay does not slow the point down, mostly because a periodic
// thread sleeps meanwhile. If that thread does not wait for a unit, the unit's gain includes as much,
// and no more. If it does wait for the unit, the unit's gain is right as it is. Placebos cannot tell
// the two cases apart. So gains stay as they are, and their intervals reach down by what placebos gain
// (docs/design/0014-placebos.md has the figures of other choices).
//
// All slices have one value for each percentage of the time that delays take, from 0 to 100.
type delayBias struct {
	gain    []float64 // to be subtracted from gains; never above 0
	noiseSD []float64 // standard deviation of gain by the placebos' noise
	existSD []float64 // and by the doubt whether there is a bias at all
	overSD  []float64 // standard deviation of what gains may be too high by
	df      float64
	certain bool // the loss is larger than the margin, and not by chance
}

const (
	// biasPrior is the probability of a bias before placebos are looked at. In the suite of accuracy/
	// nine of ten intervals hold the truth without regard to biases, so at most one program in ten has
	// one that matters.
	biasPrior = 0.1
	// biasSize is the prior standard deviation of a bias, as a part of the delays. The known ones lie
	// between 0.2 and 0.8.
	biasSize = 0.5
	// biasOver is the part of a placebo's gain that a unit's gain includes, as a root mean square. The
	// prior of that part is Beta(1/2, 1/2): all or nothing is more likely than half. The interval
	// reaches down by 1.2 times what placebos gain.
	biasOver = 0.612
	// mostBiasOver limits a gain that was extrapolated to delays that no placebo made, so that some
	// time is left.
	mostBiasOver = 0.9
)

// delayBias is nil if the placebos are too few, or their noise is not known.
func (p placeboEffect) delayBias(margin float64) *delayBias {
	f := p.fit
	if f.total < leastTrials || math.IsNaN(p.gain) || !(p.half > 0) || math.IsInf(p.half, 1) {
		return nil
	}
	shares := make([]float64, 101) // the speed-up of a placebo is its delay, see byDelay
	for i := range shares {
		shares[i] = float64(i) / 100
	}
	c, ok := f.curve(f.gainCov(), shares)
	if !ok {
		return nil
	}
	n := len(shares)
	b := &delayBias{gain: make([]float64, n), noiseSD: make([]float64, n), existSD: make([]float64, n),
		overSD: make([]float64, n), df: f.df, certain: p.gain+p.half < -margin}
	w := p.probability()
	for i := range shares {
		gain, sd := c.mean[len(f.levels)+i], c.sd[len(f.levels)+i]
		if p.gain > 0 {
			gain = math.Min(mostBiasOver, math.Max(0, gain))
			// Relative to the time that is left without the bias.
			b.overSD[i] = biasOver * math.Sqrt(w) * math.Hypot(gain, sd) / (1 - w*gain)
			continue
		}
		gain = math.Min(0, gain)
		b.gain[i], b.noiseSD[i], b.existSD[i] = w*gain, w*sd, math.Sqrt(w*(1-w))*math.Hypot(gain, sd)
	}
	return b
}

// probability is that of a delay bias at this point, by Bayes' rule. The bias is either 0, or normal
// with a standard deviation of biasSize. If few degrees of freedom tell the noise, the noise counts as
// larger here.
func (p placeboEffect) probability() float64 {
	noise, size := p.half/student.Normal(Alpha), biasSize*p.kept
	none, some := noise*noise, noise*noise+size*size
	odds := biasPrior / (1 - biasPrior) * math.Sqrt(none/some) * math.Exp(p.gain*p.gain/2*(1/none-1/some))
	return 1 - 1/(1+odds)
}

// at reads one of the slices of b where delays take a share of the time.
func (b *delayBias) at(share float64, of []float64) float64 {
	x := 100 * math.Min(1, math.Max(0, share))
	i := min(int(x), len(of)-2)
	w := x - float64(i)
	return (1-w)*of[i] + w*of[i+1]
}

// correct repeats the units' fits without the bias. The placebo's fit stays, because it shows what is
// corrected. If nothing is to be subtracted, the units' fits stay too, and only get the uncertainty.
func (in *input) correct(b *delayBias, k int, t *track, fits []*fit, phases []phasing) {
	see, whole := in.visits(k), in.whole(k)
	lost := slices.ContainsFunc(b.gain, func(gain float64) bool { return gain < 0 })
	for u := range fits {
		if isPlacebo(in.targets[u]) {
			continue
		}
		left := in.biasLeft(u)
		if lost {
			trials := in.collect(t, u, phases[u].view(see, whole))
			for i := range trials {
				tr := &trials[i]
				tr.delayBias = b.at(tr.delay/tr.real*left(float64(tr.speedup)/100), b.gain)
				tr.expected *= 1 - tr.delayBias
			}
			fits[u] = trialsFit(t, trials, &phases[u])
		}
		fits[u].delayBias, fits[u].biasLeft = b, left
	}
}

// biasLeft returns how much of the bias is left while a unit is sped up. If periodic work comes too
// often, it costs the others less, the faster that work is. Experiment.TooSoon tells how many of the
// unit's samples are such work.
func (in *input) biasLeft(u int) func(speedup float64) float64 {
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

// delayEach is the part of the time that was delay, beyond that of baselines, for a speed-up of 1.
func (f *fit) delayEach() float64 {
	var sum float64
	for i := range f.trials {
		sum += float64(f.trials[i].speedup) / 100
	}
	return delayed(f.trials) * float64(f.total) / sum
}

// biasUncertainty is what the bias adds to the uncertainty of a gain. noise is scaled to the fit's
// degrees of freedom.
func (f *fit) biasUncertainty(speedup, gain float64) (noise, exists, over float64) {
	b := f.delayBias
	if b == nil {
		return 0, 0, 0
	}
	share := f.delayEach() * speedup * f.biasLeft(speedup)
	part := 1 - gain // of the expected time is left; see phase.go for the other case
	if f.phase != 1 {
		part = f.phase
	}
	part /= 1 - b.at(share, b.gain)
	noise = part * b.at(share, b.noiseSD) * student.Quantile(Alpha, b.df) / student.Quantile(Alpha, f.df)
	return noise, part * b.at(share, b.existSD), part * b.at(share, b.overSD)
}
