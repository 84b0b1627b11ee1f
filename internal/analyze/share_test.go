package analyze

import (
	"math"
	"testing"

	"whatif/internal/profile"
)

// sampledRun is a run with a baseline of a second, in which the units have so many of a thousand samples.
func sampledRun(run profile.Run, samples map[string]int64, tried ...string) *profile.Data {
	run.PeriodNS, run.Points = 1e6, []profile.Point{{Name: "request"}}
	d := &profile.Data{Run: run, Units: map[uint32]profile.Unit{}}
	one := profile.Experiment{RealNS: 1e9, Points: make([]profile.Visits, 1), Samples: 1000,
		UnitSamples: map[uint32]int64{}, UnitWaitedNS: map[uint32]map[string]int64{}}
	for name, n := range samples {
		id := uint32(len(d.Units) + 1)
		d.Units[id] = profile.Unit{ID: id, Kind: "line", Name: name}
		one.UnitSamples[id] = n
		one.UnitWaitedNS[id] = map[string]int64{"lock": n * 1e6}
		for _, t := range tried {
			if t == name {
				d.Experiments = append(d.Experiments, profile.Experiment{Unit: id, Speedup: 50, SetAside: "foreign CPU time"})
			}
		}
	}
	d.Run.Waiting = []string{"lock"}
	d.Experiments = append(d.Experiments, one)
	return d
}

// TestShareOfRunsWithIt merges runs whose units were chosen in different ways: the time of a run that cannot have a
// unit says nothing of the unit's share.
func TestShareOfRunsWithIt(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []*profile.Data
		want map[string]float64
	}{
		{"lines, and a function as the target", []*profile.Data{
			sampledRun(profile.Run{Unit: "line"}, map[string]int64{"a.c:1": 300, "a.c:2": 200}),
			sampledRun(profile.Run{Unit: "line", Targets: []string{"func:sort"}},
				map[string]int64{"sort": 500, "a.c:2": 100, "a.c:3": 50}, "sort"),
		}, map[string]float64{"a.c:1": 30, "a.c:2": 20, "sort": 50, "a.c:3": 5}},
		{"the same target twice, and another one", []*profile.Data{
			sampledRun(profile.Run{Unit: "line", Targets: []string{"func:sort"}}, map[string]int64{"sort": 500}, "sort"),
			sampledRun(profile.Run{Unit: "line", Targets: []string{"func:sort"}}, map[string]int64{"sort": 400}, "sort"),
			sampledRun(profile.Run{Unit: "line", Targets: []string{"func:load"}}, map[string]int64{"load": 100}, "load"),
		}, map[string]float64{"sort": 45, "load": 10}},
		{"a unit that one of two equal runs did not meet", []*profile.Data{
			sampledRun(profile.Run{Unit: "line"}, map[string]int64{"a.c:1": 300, "a.c:2": 20}),
			sampledRun(profile.Run{Unit: "line"}, map[string]int64{"a.c:1": 300}),
		}, map[string]float64{"a.c:1": 30, "a.c:2": 1}},
		{"functions and lines", []*profile.Data{
			sampledRun(profile.Run{Unit: "line"}, map[string]int64{"a.c:1": 300}),
			sampledRun(profile.Run{Unit: "func"}, map[string]int64{"main": 900}),
		}, map[string]float64{"a.c:1": 30, "main": 90}},
		{"two scopes", []*profile.Data{
			sampledRun(profile.Run{Unit: "line", Scope: []string{"include source:a.c"}}, map[string]int64{"a.c:1": 300}),
			sampledRun(profile.Run{Unit: "line", Scope: []string{"include source:b.c"}}, map[string]int64{"b.c:1": 100}),
		}, map[string]float64{"a.c:1": 30, "b.c:1": 10}},
		{"a line tried as a target is whole, beside one that was not", []*profile.Data{
			sampledRun(profile.Run{Unit: "line"}, map[string]int64{"a.c:1": 300}),
			sampledRun(profile.Run{Unit: "line", Targets: []string{"a.c:1"}}, map[string]int64{"a.c:1": 200}, "a.c:1"),
		}, map[string]float64{"a.c:1": 25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := Analyze(c.runs, Options{})
			if len(res.Targets) != len(c.want) {
				t.Fatalf("%d units, not %d", len(res.Targets), len(c.want))
			}
			for _, u := range res.Targets {
				want := c.want[u.Unit.Name]
				if math.Abs(u.Share-want) > 1e-9 {
					t.Errorf("%s has a share of %.4g%%, not %g%%", u.Unit.Name, u.Share, want)
				}
				if math.Abs(u.Waiting["lock"]-want) > 1e-9 {
					t.Errorf("%s waits %.4g%% of the time, not %g%%", u.Unit.Name, u.Waiting["lock"], want)
				}
			}
		})
	}
}
