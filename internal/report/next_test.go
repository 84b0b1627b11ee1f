package report

import (
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// That the whole program would gain is no advice: the next run is for the largest part of it.
func TestNextIsNotMain(t *testing.T) {
	unclear := func(name string, share float64) analyze.Target {
		return analyze.Target{Unit: profile.Unit{Kind: "func", Name: name}, Share: share,
			Effects: []analyze.Effect{{Metric: analyze.Throughput, Verdict: analyze.Unsure}}}
	}
	r := &analyze.Result{
		Points:  []analyze.Point{{Name: "done"}},
		Targets: []analyze.Target{unclear("main", 95), unclear("parse", 20), unclear("hash", 40)},
	}
	got := next(r, []int{0}, func(u profile.Unit) string { return u.Name })
	if !strings.Contains(got, "-t func:hash ") {
		t.Errorf("of main with 95%%, parse with 20%% and hash with 40%% of the time: %s", got)
	}
}

// A function that only calls others is no advice where one of these brings a good part of what it would.
func TestNextIsNotOnlyCalls(t *testing.T) {
	function := func(name string, calls, gain float64) analyze.Target {
		at50 := analyze.Level{Speedup: 50, Gain: analyze.Estimate{Value: gain, Known: true}}
		return analyze.Target{Unit: profile.Unit{Kind: "func", Name: name}, Calls: calls, Effects: []analyze.Effect{
			{Metric: analyze.Throughput, Verdict: analyze.Faster, Estimated: []analyze.Level{at50}}}}
	}
	work := function("work", 99, 40)
	for _, c := range []struct {
		of   []analyze.Target
		want string
	}{
		{[]analyze.Target{work, function("read", 60, 30), function("write", 0, 10)}, "make read faster"},
		{[]analyze.Target{work, function("loop", 98, 38), function("read", 60, 30)}, "make read faster"},
		{[]analyze.Target{work, function("read", 60, 5)}, "make work faster"},
		{[]analyze.Target{work}, "make work faster"},
		{[]analyze.Target{function("read", 60, 30), work}, "make read faster"},
	} {
		r := &analyze.Result{Points: []analyze.Point{{Name: "done"}}, Targets: c.of}
		if got := next(r, []int{0}, func(u profile.Unit) string { return u.Name }); !strings.Contains(got, c.want) {
			t.Errorf("%d functions: %s, want %s", len(c.of), got, c.want)
		}
	}
}

// A loop is mostly several lines: what they bring together may be more than the first row of the table.
func TestNextIsOfLinesTogether(t *testing.T) {
	line := func(function, name string, gain float64) analyze.Target {
		at50 := analyze.Level{Speedup: 50, Gain: analyze.Estimate{Value: gain, Known: true}}
		e := analyze.Effect{Metric: analyze.Throughput, Verdict: analyze.Faster, Estimated: []analyze.Level{at50}}
		unit := profile.Unit{Kind: "line", Name: name, Func: function}
		return analyze.Target{Unit: unit, Effects: []analyze.Effect{e}}
	}
	targets := []analyze.Target{line("render", "a.c:9", 10), line("checksum", "a.c:3", 6), line("checksum", "a.c:4", 5)}
	for _, c := range []struct {
		of   []analyze.Target
		want string
	}{
		{targets, "make checksum faster: a.c:3 and a.c:4. If they take half as long, a visit takes about 11% less "},
		{targets[:2], "make a.c:9 faster. "},
		{append(targets, line("render", "a.c:8", 2)), "make render faster: a.c:9 and a.c:8. "},
	} {
		r := &analyze.Result{Points: []analyze.Point{{Name: "done"}}, Targets: c.of}
		if got := next(r, []int{0}, func(u profile.Unit) string { return u.Name }); !strings.Contains(got, c.want) {
			t.Errorf("%d lines: %s, want %s", len(c.of), got, c.want)
		}
	}
}
