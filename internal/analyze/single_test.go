package analyze

import (
	"math"
	"testing"

	"whatif/internal/profile"
)

// TestTrials checks that the experiments are there one by one, and are those that the
// estimates come from.
func TestTrials(t *testing.T) {
	w := world{pairs: 60, noise: 0.01, units: []code{{share: 0.5, gain: linear(0.4)}, {share: 0.3, gain: linear(0)}}}
	d := w.run(3)
	if r := Analyze([]*profile.Data{d}, Options{}); len(r.Targets[0].Effects[0].Trials) != 0 {
		t.Error("trials that nobody asked for")
	}
	r := Analyze([]*profile.Data{d}, Options{Trials: true})
	for _, tg := range r.Targets {
		e := &tg.Effects[0]
		if len(e.Trials) != e.Experiments {
			t.Errorf("%s: %d trials of %d experiments", tg.Unit.Name, len(e.Trials), e.Experiments)
		}
		sum, n := map[int]float64{}, map[int]float64{}
		for _, one := range e.Trials {
			x := d.Experiments[one.Experiment]
			if x.Speedup != one.Speedup || d.Units[x.Unit].Name != tg.Unit.Name {
				t.Fatalf("trial %+v is experiment %+v", one, x)
			}
			if !one.Known {
				t.Errorf("trial %+v is not known", one)
			}
			sum[one.Speedup] += one.Gain
			n[one.Speedup]++
		}
		for _, l := range e.Curve[1:] {
			if mean := sum[l.Speedup] / n[l.Speedup]; math.Abs(mean-l.Raw.Value) > 1 {
				t.Errorf("%s at %d%%: the trials say %.2f, together %.2f", tg.Unit.Name, l.Speedup, mean, l.Raw.Value)
			}
		}
	}
}
