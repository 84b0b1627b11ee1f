package analyze

import (
	"slices"

	"whatif/internal/analyze/student"
	"whatif/internal/profile"
)

// separatePlacebo moves the placebo out of the targets, and warns if it changed a throughput.
// Latencies get no warning: if they are measured, virtual time takes more into account than the
// placebos' figures show.
func (r *Result) separatePlacebo() {
	i := placeboOf(r.Targets)
	if i < 0 {
		return
	}
	placebo := r.Targets[i]
	r.Targets = slices.Delete(r.Targets, i, i+1)
	r.Placebo = &placebo
	for i := range r.Points {
		if p := &r.Points[i]; p.Paced {
			r.Warnings.Add("paced", "point %s: whatif delayed everything without making anything faster (a placebo), and it "+
				"was visited as often as before: its pace is set by something that is not delayed, a clock or clients outside. "+
				"So its gains are counted by the clock, and may well be 0 however fast the code is; to see what faster code is "+
				"worth, measure a latency (-l), or profile under a load that keeps the program busy", p.Name)
		}
	}
	for k := range placebo.Effects {
		e := &placebo.Effects[k]
		e.Reason = "an error: nothing was faster"
		delayed, gain := e.PlaceboChange()
		if e.Metric != Throughput || !gain.Bounded || r.Points[e.Point].Paced {
			continue
		}
		why := ""
		if r.Points[e.Point].DelayBiased {
			why = "being stopped costs the program something itself, as memory that gets cold meanwhile, or what the clock " +
				"has it do comes too often. The point's gains are corrected for that"
		} else if allowed := delayed * e.uncertainty.method * student.Normal(Alpha); gain.Low > max(allowed, r.Margin) {
			why = "the program keeps time by something that whatif does not see, and small gains there may be none"
		} else {
			continue
		}
		r.Warnings.Add("placebo", "point %s: delaying everything for %.0f%% of the time without making anything faster (a "+
			"placebo) changed it by %+.0f ± %.0f%%, and should change nothing: %s",
			r.Points[e.Point].Name, delayed, gain.Value, gain.Half(), why)
	}
}

// EnoughPlacebos is the number of placebos from which all corrections are possible.
const EnoughPlacebos = leastTrials

// A placeboEffect is what placebos do to a point, in percent; NaN if not known. gain is the change,
// and half half the width of its interval. kept is the gain, compared with baselines and their own
// delays, of a point that is visited as often in real time.
type placeboEffect struct {
	fit              *fit // the placebos' fit
	kept, gain, half float64
}

// placeboEffect measures the effect of placebos on a point, in one view.
func (in *input) placeboEffect(placebo int, see view, t *track, fits []*fit, phases []phasing) placeboEffect {
	f := trialsFit(t, in.collect(t, placebo, see), &phases[placebo]) // a new fit, because finish changes it
	f.finish(pooledNoise(fits), t.df, 1)
	kept := 0.0
	for i := range f.trials {
		tr := &f.trials[i]
		kept += 100 * tr.delay / tr.real / (1 - tr.baselineDelayShare) / float64(f.total)
	}
	var e Effect
	e.fill(f, t, true)
	delayed, all := e.PlaceboChange()
	return placeboEffect{fit: f, kept: kept, gain: all.Value, half: delayed * e.uncertainty.noiseHalf()}
}

// placeboOf is the index of the placebo, or -1 if it was not tried.
func placeboOf(targets []Target) int { return slices.IndexFunc(targets, isPlacebo) }

func isPlacebo(t Target) bool { return t.Unit.Kind == profile.Placebo }

// PlaceboChange is how much a placebo's experiments delayed on average beyond baselines, in percent of the time, and by
// how much that changed the point.
func (e *Effect) PlaceboChange() (delayed float64, gain Estimate) {
	n := 0
	for _, l := range e.Curve {
		if l.Speedup > 0 {
			delayed += float64(l.Speedup * l.Experiments)
			n += l.Experiments
		}
	}
	delayed /= float64(max(n, 1))
	gain = Estimate{Value: delayed * e.Slope.Value, Known: e.Slope.Known, Bounded: e.Slope.Bounded}
	if half := delayed * e.uncertainty.noiseHalf(); gain.Bounded {
		gain.Low, gain.High = gain.Value-half, gain.Value+half
	}
	return delayed, gain
}
