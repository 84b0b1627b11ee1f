package estimate

import (
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/recording"
)

// TestSmallest: units get smaller until they have nearly all of the time together, or there is too much to simulate.
func TestSmallest(t *testing.T) {
	flat := []float64{20, 10}
	for range 300 {
		flat = append(flat, 0.2)
	}
	for range 100 {
		flat = append(flat, 0.1)
	}
	for _, c := range []struct {
		name   string
		e      Estimator
		shares []float64
		work   int
		want   float64
	}{
		{"large units have it all", Estimator{}, []float64{60, 36, 0.3}, 10, 0.5},
		{"small ones are needed", Estimator{}, flat, 10, 0.1},
		{"not the smallest", Estimator{}, append([]float64{40}, flat...), 10, 0.2},
		{"many events", Estimator{}, flat, mostWork / 300, 0.2},
		{"too many with the same share", Estimator{}, flat, mostWork / 299, 0.5},
		{"too many events", Estimator{}, flat, mostWork + 1, 0.5},
		{"another least", Estimator{opt: Options{Least: 5}}, flat, 10, 5},
		{"shares overlap", Estimator{opt: Options{Kind: "func"}}, flat, 10, 0.5},
		{"nothing is believed", Estimator{doubt: "it polls"}, flat, 10, 0.5},
	} {
		if c.e.opt.Least == 0 {
			c.e.opt.Least = DefaultLeast
		}
		if got := c.e.smallest(c.shares, c.work); got != c.want {
			t.Errorf("%s: from %g%% on, want %g%%", c.name, got, c.want)
		}
	}
}

func TestQuarters(t *testing.T) {
	effects := []analyze.EstimatedEffect{{Refused: "it polls"}, {}}
	for s := 5; s <= 100; s += 5 {
		effects[1].Levels = append(effects[1].Levels, analyze.Level{Speedup: s})
	}
	quarters(effects)
	if l := effects[1].Levels; len(l) != 4 || l[0].Speedup != 25 || l[3].Speedup != 100 || len(effects[0].Levels) != 0 {
		t.Errorf("%+v", effects)
	}
}

func TestWork(t *testing.T) {
	e := Estimator{rec: &recording.Recording{Windows: []recording.Window{
		{Events: []recording.Event{{Kind: recording.Sample}, {Kind: recording.Switch}}},
		{Events: []recording.Event{{Kind: recording.Visit}, {Kind: recording.Sample}}},
	}}}
	if got := e.work(); got != 2 {
		t.Errorf("%d events, want 2", got)
	}
}
