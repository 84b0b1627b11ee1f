package analyze

import (
	"math"
	"slices"

	"whatif/internal/profile"
)

// takePlacebo takes the unit that is no code from among the targets, and warns where it changed a throughput: whoever measures latencies
// has the ledger foresee more than placebos tell it.
func (r *Result) takePlacebo() {
	i := placeboOf(r.Targets)
	if i < 0 {
		return
	}
	placebo := r.Targets[i]
	r.Targets = slices.Delete(r.Targets, i, i+1)
	r.Placebo = &placebo
	for i := range r.Points {
		if p := &r.Points[i]; p.Paced {
			r.warn("paced", "point %s: whatif delayed everything without making anything faster (a placebo), and it was visited as often as before: its pace is set by something that is not delayed, a clock or clients outside. "+
				"So its gains are counted by the clock, and may well be 0 however fast the code is; to see what faster code is worth, measure a latency (-l), or profile under a load that keeps the program busy", p.Name)
		}
	}
	for k := range placebo.Effects {
		e := &placebo.Effects[k]
		e.Reason = "an error: nothing was faster"
		delayed, gain := e.Nothing()
		if e.Metric != Throughput || !gain.Bounded || r.Points[e.Point].Paced {
			continue
		}
		allowed := delayed * e.doubt.method * normalQuantile(alpha)
		if math.Abs(gain.Value)-gain.Half() > max(allowed, r.Margin) {
			why := "the program keeps time by something that whatif does not see, and small gains there may be none"
			if gain.Value < 0 {
				why = "being stopped costs the program something itself, as memory that gets cold meanwhile, and gains there may be larger than they seem"
			}
			r.warn("placebo", "point %s: delaying everything for %.0f%% of the time without making anything faster (a placebo) changed it by %+.0f ± %.0f%%, and should change nothing: %s",
				r.Points[e.Point].Name, delayed, gain.Value, gain.Half(), why)
		}
	}
}

// PlacebosTell is how many it takes to see that a point keeps its pace: of two the noise is that of all units' experiments, which
// is enough for so large an effect; of one that may be chance.
const PlacebosTell = 2

// pacedShare: a point that keeps its pace seems to gain what a placebo delays. At least so much of it surely, and no more than as
// much above it: who gains more than was delayed has become faster, and that is something else.
const pacedShare = 0.9

// paced gives point k's track and fits by the clock, if delays for nothing do not slow it down: its visits come by a clock then, or
// from somewhere else that is not delayed. In less virtual time as many come, whatever the code is worth. It has to seem to gain what
// they take, in all runs together and each of them has tried, and by the clock it must not surely leave its pace by more than the
// margin: what is lost there would be taken from all units. One visit of twenty more or less at the edge of one of two placebos is chance.
func (in *input) paced(k int, t *track, fits []*fit, phases []phasing, margin float64) (*track, []*fit) {
	placebo := placeboOf(in.targets)
	if placebo < 0 {
		return nil, nil
	}
	tried := make(map[int]bool)
	for _, o := range in.tried[placebo] {
		tried[o.run] = true
	}
	n, kept, gain, half := in.nothing(placebo, in.visits(k), t, fits, phases)
	seems := len(tried) == len(in.runs) && n >= PlacebosTell && gain-half > pacedShare*kept && gain < kept/pacedShare
	if !seems {
		return nil, nil
	}
	see := in.byTheClock(k)
	clock, clocked := in.fitPoint(see, phases)
	if _, _, gain, half := in.nothing(placebo, see, clock, clocked, phases); !(math.Abs(gain)-half <= margin) {
		return nil, nil // also where it is not known
	}
	return clock, clocked
}

// nothing is what delays for nothing do to a point, seen so, in percent, and how surely that is known: NaN where it is not. kept is what
// they do to one that comes as often by the clock, beside baselines, in which there are delays, too.
func (in *input) nothing(placebo int, see view, t *track, fits []*fit, phases []phasing) (n int, kept, gain, half float64) {
	trials := in.collect(t, placebo, see)
	for i := range trials {
		tr := &trials[i]
		kept += 100 * tr.delay / tr.real / (1 - tr.always) / float64(len(trials))
	}
	f := trialsFit(t, trials, &phases[placebo]) // anew: to finish a fit changes it
	f.finish(pooledNoise(fits), t.df, 1)
	var e Effect
	e.fill(f, t, true)
	delayed, all := e.Nothing()
	return f.total, kept, all.Value, delayed * e.doubt.noiseHalf()
}

// placeboOf is which of the targets is no code; -1: it was not tried.
func placeboOf(targets []Target) int { return slices.IndexFunc(targets, isPlacebo) }

func isPlacebo(t Target) bool { return t.Unit.Kind == profile.Placebo }

// Nothing is how much a placebo's experiments delayed, in percent of the time, and what that changed, on average.
func (e *Effect) Nothing() (delayed float64, gain Estimate) {
	n := 0
	for _, l := range e.Curve {
		if l.Speedup > 0 {
			delayed += float64(l.Speedup * l.Experiments)
			n += l.Experiments
		}
	}
	delayed /= float64(max(n, 1))
	gain = Estimate{Value: delayed * e.Slope.Value, Known: e.Slope.Known, Bounded: e.Slope.Bounded}
	if half := delayed * e.doubt.noiseHalf(); gain.Bounded {
		gain.Low, gain.High = gain.Value-half, gain.Value+half
	}
	return delayed, gain
}
