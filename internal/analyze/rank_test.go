package analyze

import (
	"fmt"
	"strings"
	"testing"

	"whatif/internal/profile"
)

// TestRank: what experiments tell comes before what they do not, whatever the shares are.
func TestRank(t *testing.T) {
	bounded := Estimate{Value: 0.5, Low: 0.1, High: 0.9, Known: true, Bounded: true}
	target := func(name string, share float64, e Effect) Target {
		return Target{Unit: profile.Unit{Name: name}, Share: share, Effects: []Effect{e}}
	}
	targets := []Target{
		target("untried", 90, Effect{Verdict: Unsure}),
		target("seldom", 80, Effect{Verdict: Unsure, Experiments: 2}),
		target("none", 5, Effect{Verdict: None, Experiments: 9, Slope: bounded}),
		target("unclear", 10, Effect{Verdict: Unsure, Experiments: 9, Slope: bounded}),
		target("large and unclear", 20, Effect{Verdict: Unsure, Experiments: 9, Slope: bounded}),
		target("faster", 1, Effect{Verdict: Faster, Experiments: 9, Slope: bounded}),
	}
	rank(targets)
	var names []string
	for _, u := range targets {
		names = append(names, u.Unit.Name)
	}
	if got := strings.Join(names, ", "); got != "faster, large and unclear, unclear, none, seldom, untried" {
		t.Error(got)
	}
}

// TestLuck: an effect that would be certain by itself is not among several, and the reason says so.
func TestLuck(t *testing.T) {
	effect := func(slope float64) *Effect {
		u := uncertainty{noise: 0.2, df: 40}
		half := u.half(Alpha)
		return &Effect{Metric: Throughput, Experiments: 40, uncertainty: u,
			Slope: Estimate{Value: slope, Low: slope - half, High: slope + half, Known: true, Bounded: true},
			Curve: []Level{{}, {Speedup: 100, Gain: Estimate{Value: 100 * slope, Low: 100 * (slope - half),
				High: 100 * (slope + half), Known: true, Bounded: true}}}}
	}
	for n, want := range map[int]string{1: "the program gains",
		3: "not enough data: it looks real by itself, but among 3 units one such result may well be luck"} {
		table := []*Effect{effect(0.46)}
		for len(table) < n {
			table = append(table, effect(0.1))
		}
		among := judge(table, DefaultMargin)
		if got := table[0].reason(among, DefaultMargin); got != want || table[0].MaybeLuck() != (n > 1) {
			t.Errorf("among %d: %s", n, got)
		}
		for _, e := range table[1:] {
			got := fmt.Sprint(e.reason(among, DefaultMargin), e.MaybeLuck())
			if got != "not enough data: the intervals are too wide to tellfalse" {
				t.Error(got)
			}
		}
	}
}
