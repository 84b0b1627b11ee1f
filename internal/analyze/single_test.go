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

// Of two runs one was sampled four times as often: each of its samples stands for a quarter.
func TestTwoPeriods(t *testing.T) {
	often := before.run(2)
	often.Run.PeriodNS /= 4
	for i := range often.Experiments {
		e := &often.Experiments[i]
		e.Samples *= 4
		for id := range e.UnitSamples {
			e.UnitSamples[id] *= 4
		}
	}
	one, two := Analyze(runsOf(before, 1), Options{}), Analyze([]*profile.Data{before.run(1), often}, Options{})
	for i := range two.Targets {
		a, b := &one.Targets[i], &two.Targets[i]
		if a.Unit.Name != b.Unit.Name || math.Abs(a.Share-b.Share) > 1e-9 {
			t.Errorf("%s: %v%% of the time in one run, %s: %v%% in two", a.Unit.Name, a.Share, b.Unit.Name, b.Share)
		}
		if a.CPUNS != a.Samples*1e6 || b.CPUNS != 2*a.CPUNS || b.Samples != 5*a.Samples {
			t.Errorf("%s: %d ns for %d samples, and %d for %d", a.Unit.Name, a.CPUNS, a.Samples, b.CPUNS, b.Samples)
		}
	}
}
