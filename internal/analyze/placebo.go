package analyze

import (
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
		why := ""
		if r.Points[e.Point].Dragged {
			why = "being stopped costs the program something itself, as memory that gets cold meanwhile, or what the clock has it do comes too often. The point's gains are corrected for that"
		} else if allowed := delayed * e.doubt.method * normalQuantile(alpha); gain.Low > max(allowed, r.Margin) {
			why = "the program keeps time by something that whatif does not see, and small gains there may be none"
		} else {
			continue
		}
		r.warn("placebo", "point %s: delaying everything for %.0f%% of the time without making anything faster (a placebo) changed it by %+.0f ± %.0f%%, and should change nothing: %s",
			r.Points[e.Point].Name, delayed, gain.Value, gain.Half(), why)
	}
}

// PlacebosTell is how many it takes for all that they can tell.
const PlacebosTell = leastTrials

// nothing is what delays for nothing do to a point, in percent, and how surely that is known: NaN where it is not. kept is what
// they do to one that comes as often by the clock, beside baselines, in which there are delays, too.
type nothing struct {
	fit              *fit // of the placebos
	kept, gain, half float64
}

// nothing is that of a point, seen so.
func (in *input) nothing(placebo int, see view, t *track, fits []*fit, phases []phasing) nothing {
	f := trialsFit(t, in.collect(t, placebo, see), &phases[placebo]) // anew: to finish a fit changes it
	f.finish(pooledNoise(fits), t.df, 1)
	kept := 0.0
	for i := range f.trials {
		tr := &f.trials[i]
		kept += 100 * tr.delay / tr.real / (1 - tr.always) / float64(f.total)
	}
	var e Effect
	e.fill(f, t, true)
	delayed, all := e.Nothing()
	return nothing{fit: f, kept: kept, gain: all.Value, half: delayed * e.doubt.noiseHalf()}
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
