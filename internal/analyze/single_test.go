package analyze

import (
	"math"
	"slices"
	"testing"

	"whatif/internal/profile"
)

// TestTrials checks that the single experiments are there, and that the estimates come from them.
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

// TestTwoPeriods: if one of two runs was sampled four times as often, each of its samples stands
// for a quarter.
func TestTwoPeriods(t *testing.T) {
	w := world{pairs: 20, levels: []int{50}, units: []code{{share: 0.6, gain: linear(0.5)}, {share: 0.3, gain: linear(0)}}}
	run, often := w.run(1), w.run(1)
	often.Run.ID = "often"
	often.Run.PeriodNS /= 4
	for i := range often.Experiments {
		e := &often.Experiments[i]
		e.Samples *= 4
		for id := range e.UnitSamples {
			e.UnitSamples[id] *= 4
		}
	}
	one, two := Analyze([]*profile.Data{run}, Options{}), Analyze([]*profile.Data{run, often}, Options{})
	for i := range one.Targets {
		a := &one.Targets[i]
		j := slices.IndexFunc(two.Targets, func(t Target) bool { return t.Unit.Name == a.Unit.Name })
		if j < 0 {
			t.Fatalf("%s is not in the result of both runs", a.Unit.Name)
		}
		b := &two.Targets[j]
		if math.Abs(a.Share-b.Share) > 1e-9 {
			t.Errorf("%s: %v%% of the time in one run, %v%% in two", a.Unit.Name, a.Share, b.Share)
		}
		if a.CPUNS != a.Samples*period || b.CPUNS != 2*a.CPUNS || b.Samples != 5*a.Samples {
			t.Errorf("%s: %d ns for %d samples, and %d for %d", a.Unit.Name, a.CPUNS, a.Samples, b.CPUNS, b.Samples)
		}
	}
}
