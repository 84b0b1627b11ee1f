package analyze

import (
	"math"
	"slices"

	"whatif/internal/profile"
)

// takePlacebo takes the unit that is no code from among the targets, and warns where it changed the program.
func (r *Result) takePlacebo() {
	i := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Unit.Kind == profile.Placebo })
	if i < 0 {
		return
	}
	placebo := r.Targets[i]
	r.Targets = slices.Delete(r.Targets, i, i+1)
	r.Placebo = &placebo
	for k := range placebo.Effects {
		if e := &placebo.Effects[k]; e.Metric == Throughput {
			r.placeboDoubt(e)
		}
	}
}

// placeboDoubt warns if what a placebo did is more than noise, and than the error that intervals allow for.
func (r *Result) placeboDoubt(e *Effect) {
	if !e.Slope.Bounded {
		return
	}
	level := e.meanLevel()
	value, noise := level*e.Slope.Value, level*e.doubt.noiseHalf()
	allowed := 100 * normalQuantile(alpha) * methodError(level/100, value/100)
	if math.Abs(value)-noise <= max(allowed, r.Margin) {
		return
	}
	r.warn("placebo", "point %s: delays of %.0f%% of the time for nothing (a placebo) changed it by %+.0f ± %.0f%%, and should have by 0: "+
		"the program keeps time by something that whatif does not see, and the gains there may be off by as much", r.Points[e.Point].Name, level, value, noise)
}

// meanLevel is the speed-up of an effect's experiments, in percent, on average.
func (e *Effect) meanLevel() float64 {
	var sum, n float64
	for _, l := range e.Curve {
		if l.Speedup > 0 {
			sum += float64(l.Speedup * l.Experiments)
			n += float64(l.Experiments)
		}
	}
	return sum / max(n, 1)
}
