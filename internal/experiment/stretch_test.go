package experiment

import (
	"testing"
	"time"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// Experiments get longer only where they would have little virtual time, and not without end.
func TestStretches(t *testing.T) {
	check := func(g stretches, unit uint32, speedup int, want time.Duration) {
		t.Helper()
		got := g.of(plan.Trial{Watch: unit, Speedup: speedup}, 100*time.Millisecond)
		if diff := got - want*time.Millisecond; diff < -time.Microsecond || diff > time.Microsecond {
			t.Errorf("unit %d at %d%%: %v, want %d ms", unit, speedup, got, want)
		}
	}
	g := make(stretches)
	for _, e := range []profile.Experiment{
		{Unit: 1, Speedup: 50, RealNS: 1000, DelayNS: 200}, // 40% of the time
		{Unit: 2, Speedup: 50, RealNS: 1000, DelayNS: 450}, // 90%
		{Unit: 3, Speedup: 25, RealNS: 1000, DelayNS: 260}, // more than all of it
		{Unit: 0, RealNS: 1000},
	} {
		g.add(&e)
	}
	for _, c := range []struct {
		unit    uint32
		speedup int
		want    time.Duration
	}{
		{0, 0, 100}, {1, 100, 100}, {2, 50, 100}, {2, 100, 250}, {3, 75, 100}, {3, 95, 400}, {3, 100, 400}, {4, 100, 100},
		{3, 0, 100},
	} {
		check(g, c.unit, c.speedup, c.want)
	}
	// What ticks and probes delay everywhere belongs to no unit, and is no virtual time, either.
	g = make(stretches)
	g.add(&profile.Experiment{RealNS: 1000, DelayNS: 200})
	g.add(&profile.Experiment{Unit: 1, Speedup: 5, RealNS: 1000, DelayNS: 220}) // 40% of the time
	g.add(&profile.Experiment{Unit: 2, Speedup: 50, RealNS: 1000, DelayNS: 500})
	check(g, 1, 100, 100)
	check(g, 2, 100, 125)
}
