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
	if !strings.Contains(got, "-t hash") {
		t.Errorf("of main with 95%%, parse with 20%% and hash with 40%% of the time: %s", got)
	}
}
