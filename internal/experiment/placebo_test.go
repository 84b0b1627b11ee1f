package experiment

import (
	"math"
	"testing"

	"whatif/internal/demo"
	"whatif/internal/plan"
	"whatif/internal/profile"
	"whatif/internal/realkernel"
)

// What a placebo delays is what the experiments so far did, within limits, and what did nothing counts, too.
func TestPlaceboDelays(t *testing.T) {
	var d delays
	check := func(want int) {
		t.Helper()
		if got := d.percent(); got != want {
			t.Errorf("%+v: %d%%, want %d%%", d, got, want)
		}
	}
	add := func(trial plan.Trial, delay int64) {
		d.add(trial, &profile.Experiment{Speedup: trial.Speedup, RealNS: 1000, DelayNS: delay})
	}
	check(leastPlacebo)
	add(plan.Trial{Unit: 1, Speedup: 50}, 400)
	check(40)
	add(plan.Trial{Unit: 2, Speedup: 100}, 0)
	check(20)
	add(plan.Trial{}, 3)
	add(plan.Trial{Unit: 3, Speedup: 50, Placebo: true}, 900)
	check(20)
	add(plan.Trial{Unit: 1, Speedup: 100}, 2000)
	add(plan.Trial{Unit: 1, Speedup: 100}, 2000)
	check(mostPlacebo)
}

// A placebo delays everything by as much as it says, and is no code's.
func TestPlacebo(t *testing.T) {
	realkernel.Need(t)
	program := append([]string{realkernel.Whatif(t)}, demo.Command()[1:]...)
	data, _ := profiled(t, []string{"-p", "round=" + demo.Point(), "-t", demo.Truth()[2].Name, "-s", "50", "--waiting", "none", "-d", "10s"}, program, 128+15)
	met := 0
	for _, e := range data.Experiments {
		if !data.IsPlacebo(&e) || e.SetAside != "" {
			continue
		}
		met++
		delayed := 100 * float64(e.DelayNS) / float64(e.RealNS)
		t.Logf("experiment %d: %d%% asked for, %.1f%% delayed, %d visits", e.Index, e.Speedup, delayed, e.Points[0].Count)
		if math.Abs(delayed-float64(e.Speedup)) > 2 {
			t.Errorf("experiment %d delayed %.1f%% of its time, not %d", e.Index, delayed, e.Speedup)
		}
		if e.UnitSamples[e.Unit] != 0 || e.PausedNS == 0 {
			t.Errorf("experiment %d: %d samples of no code, cores stopped for %d ns", e.Index, e.UnitSamples[e.Unit], e.PausedNS)
		}
	}
	if met == 0 {
		t.Errorf("none in %d experiments", len(data.Experiments))
	}
}
