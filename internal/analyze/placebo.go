package analyze

import (
	"math"
	"slices"

	"whatif/internal/profile"
)

// takePlacebo takes the unit that is no code from among the targets, and warns where it changed a throughput: whoever measures latencies
// has the ledger foresee more than placebos tell it.
func (r *Result) takePlacebo() {
	i := slices.IndexFunc(r.Targets, isPlacebo)
	if i < 0 {
		return
	}
	placebo := r.Targets[i]
	r.Targets = slices.Delete(r.Targets, i, i+1)
	r.Placebo = &placebo
	for i := range r.Points {
		if p := &r.Points[i]; p.Paced {
			r.warn("paced", "point %s: delays for nothing (a placebo) do not slow it down: something that is not delayed, as a clock or who asks from outside, sets its pace. "+
				"So its gains are counted by the clock; what faster code is worth a latency tells (-l)", p.Name)
		}
	}
	for k := range placebo.Effects {
		e := &placebo.Effects[k]
		e.Reason = "an error: nothing was faster"
		delayed, gain := e.Nothing()
		if e.Metric != Throughput || !gain.Bounded {
			continue
		}
		allowed := delayed * e.doubt.method * normalQuantile(alpha)
		if math.Abs(gain.Value)-gain.Half() > max(allowed, r.Margin) {
			r.warn("placebo", "point %s: delaying everything for %.0f%% of the time for nothing (a placebo) changed it by %+.0f ± %.0f%%, and should change nothing: "+
				"the program keeps time by something that whatif does not see, and small gains there may be none", r.Points[e.Point].Name, delayed, gain.Value, gain.Half())
		}
	}
}

// pacedShare of what a placebo delays, at least, a point that keeps its pace seems to gain.
const pacedShare = 0.9

// isPaced says whether delays for nothing surely leave a point, seen so, at its pace. Its visits come by a clock then, or from
// somewhere else that is not delayed: in less virtual time as many, whatever the code is worth.
func (in *input) isPaced(see view, phases []phasing) bool {
	i := slices.IndexFunc(in.targets, isPlacebo)
	if i < 0 {
		return false
	}
	t, fits := in.fitPoint(see, phases)
	f := fits[i]
	f.finish(pooledNoise(fits), t.df, 1)
	var e Effect
	e.fill(f, t, true)
	delayed, gain := e.Nothing()
	half := delayed * e.doubt.noiseHalf()
	return f.total >= 2 && gain.Known && gain.Value-half > pacedShare*delayed && pacedShare*gain.Value < delayed
}

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
