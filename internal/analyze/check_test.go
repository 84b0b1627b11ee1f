package analyze

import (
	"testing"

	"whatif/internal/profile"
)

func TestCheck(t *testing.T) {
	w := world{pairs: 200, levels: []int{25, 50, 75, 100}, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: 0.01,
		targets: true}
	r, none := Analyze([]*profile.Data{w.run(1)}, Options{}), Analyze(nil, Options{})
	remote := w.run(1)
	for i := range remote.Experiments {
		remote.Experiments[i].Wakes, remote.Experiments[i].NetworkWakes = 200, 100
	}
	bounds := Analyze([]*profile.Data{remote}, Options{})
	for name, c := range map[string]struct {
		got  Finding
		want Answer
	}{
		"a unit gains 20":   {r.CheckLeast(20, ""), Holds},
		"a unit gains 90":   {r.CheckLeast(90, ""), Fails},
		"a unit loses":      {r.CheckLoss(5, "request"), Holds},
		"at most 60":        {bounds.CheckLeast(20, ""), NotSure},
		"at most 60, no 90": {bounds.CheckLeast(90, ""), Fails},
		"nothing":           {none.CheckLoss(5, ""), NotSure},
	} {
		if c.got.Answer != c.want || c.got.Text == "" {
			t.Errorf("%s: %+v, want %s", name, c.got, c.want)
		}
	}
}

// Among many units some seem to gain by chance. A finding is certain for all of them together.
func TestCheckFamily(t *testing.T) {
	level := func(gain float64) Effect {
		return Effect{Experiments: 9, Metric: Throughput, Curve: []Level{
			{Speedup: 0},
			{Speedup: 50, uncertainty: uncertainty{noise: 1, df: 1000},
				Gain: Estimate{Value: gain, Low: gain - 1.96, High: gain + 1.96, Known: true, Bounded: true}},
		}}
	}
	r := &Result{Points: []Point{{Name: "p"}}}
	add := func(gain float64) {
		r.Targets = append(r.Targets, Target{Unit: profile.Unit{Name: "u"}, Effects: []Effect{level(gain)}})
	}
	add(2.5)
	if f := r.CheckLeast(0, ""); f.Answer != Holds {
		t.Errorf("one unit: %+v", f)
	}
	for range 200 {
		add(-1)
	}
	if f := r.CheckLeast(0, ""); f.Answer != NotSure {
		t.Errorf("one of 201 units, 2.5 deviations from none: %+v", f)
	}
	add(8)
	if f := r.CheckLeast(0, ""); f.Answer != Holds {
		t.Errorf("one of 202 units, 8 deviations from none: %+v", f)
	}
}
