package experiment

import (
	"testing"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// Placebos delay in turn more and less than the experiments so far did, within limits; and experiments without a delay
// count, too.
func TestPlaceboDelays(t *testing.T) {
	var d usualDelay
	check := func(want int) {
		t.Helper()
		if got := d.next(); got != want {
			t.Errorf("%+v: %d%%, want %d%%", d, got, want)
		}
	}
	add := func(trial plan.Trial, delay int64) {
		d.add(trial, &profile.Experiment{Speedup: trial.Speedup, RealNS: 1000, DelayNS: delay})
	}
	check(leastPlacebo)
	add(plan.Trial{Unit: 1, Speedup: 50}, 400)
	check(28)
	check(mostPlacebo)
	add(plan.Trial{Unit: 2, Speedup: 100}, 0)
	check(14)
	add(plan.Trial{}, 3)
	add(plan.Trial{Unit: 3, Speedup: 50, Placebo: true}, 900)
	check(28)
	check(14)
	add(plan.Trial{Unit: 1, Speedup: 100}, 2000)
	add(plan.Trial{Unit: 1, Speedup: 100}, 2000)
	check(mostPlacebo)
}
