package analyze

import (
	"testing"

	"whatif/internal/profile"
)

// combined is a run in which two lines are sped up together. Each experiment with them takes so much less time.
func combined(experiments int, gain float64) *profile.Data {
	d := &profile.Data{
		Run: profile.Run{Version: 1, PeriodNS: 1e6, Speedups: []int{100}, Targets: []string{"a.c:1", "a.c:2"},
			Points: []profile.Point{{Name: "done", Kind: "func"}},
			Together: []profile.Part{{Target: "a.c:1", Kind: "line", Name: "a.c:1", Percent: 50},
				{Target: "a.c:2", Kind: "line", Name: "a.c:2", Percent: 20}}},
		Units: map[uint32]profile.Unit{1: {ID: 1, Kind: "line", Name: "a.c:1", Line: 1},
			2: {ID: 2, Kind: "line", Name: "a.c:2", Line: 2}},
	}
	d.Units[3] = profile.TogetherUnit(d.Run.Together)
	for i := range 2 * experiments {
		e := profile.Experiment{Index: i, StartNS: int64(i) * 2e8, RealNS: 2e8, Pair: 1 + i/2, Samples: 200,
			UnitSamples: map[uint32]int64{1: 120, 2: 60, 3: 180}}
		time := 0.001 + 1e-6*float64(i/2%3)
		if i%2 == 1 {
			e.Unit, e.Speedup, e.DelayNS = 3, 100, 6e7
			time *= 1 - gain
		}
		window := float64(e.RealNS-e.DelayNS) * 0.65
		e.Points = []profile.Visits{{Count: 200, Weight: window / 1e9 / time, WindowNS: window}}
		d.Experiments = append(d.Experiments, e)
	}
	return d
}

// A combination has a gain at 100% and nowhere else, the share of its units, and is all that has to be known.
func TestTogether(t *testing.T) {
	r := Analyze([]*profile.Data{combined(20, 0.3)}, Options{})
	var found *Target
	for i := range r.Targets {
		if len(r.Targets[i].Together) > 0 {
			found = &r.Targets[i]
		}
	}
	if found == nil || found.Unit.Name != "a.c:1 by 50% and a.c:2 by 20%, together" || len(found.Together) != 2 {
		t.Fatalf("%+v", r.Targets)
	}
	e := &found.Effects[0]
	if g, ok := e.At(100); !ok || g.Value < 29 || g.Value > 31 || !g.Bounded {
		t.Errorf("at 100%%: %+v", g)
	}
	for _, part := range []int{25, 50, 75} {
		if g, ok := e.At(part); ok {
			t.Errorf("at %d%%, which means nothing: %+v", part, g)
		}
	}
	if found.Share != 90 || found.Samples != 0 || e.Verdict != Faster {
		t.Errorf("share %v, %d samples of its own, %s", found.Share, found.Samples, e.Verdict)
	}
	if !r.Settled(2) {
		t.Error("its units, which are not tried by themselves, keep it from being settled")
	}
	if r := Analyze([]*profile.Data{combined(3, 0.3)}, Options{}); r.Settled(2) {
		t.Error("three experiments settle it")
	}
}
