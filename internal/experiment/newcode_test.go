package experiment

import (
	"testing"
	"time"

	"whatif/internal/point"
	"whatif/internal/profile"
)

// An experiment is discarded where much of the code was met for the first time, but a program that has new code all the
// time keeps most of its experiments.
func TestNewCode(t *testing.T) {
	met := func(n *newCode, table, place, samples int64) reason {
		return n.in(&profile.Experiment{RealNS: 2e8, Samples: samples, Losses: map[string]int64{
			profile.LossTable: table, profile.LossPlace: place, profile.LossStack: 100,
		}})
	}
	n := watchNewCode(&Config{Speedups: []int{0, 50}, Duration: 4 * time.Second}, false)
	for _, c := range []struct {
		table, place, samples int64
		want                  reason
	}{
		{0, 0, 200, usable}, {0, 0, 0, usable}, {5, 4, 200, usable}, {6, 4, 200, codeUnknown}, {0, 100, 200, codeUnknown},
		{2, 1, 200, usable}, {3, 0, 3, codeUnknown}, {20, 0, 200, codeUnknown}, {20, 0, 200, codeUnknown},
		{20, 0, 200, usable}, // a quarter of the run is over
	} {
		if got := met(n, c.table, c.place, c.samples); got != c.want {
			t.Errorf("%d and %d of %d: %q, want %q", c.table, c.place, c.samples, got, c.want)
		}
	}
	for name, off := range map[string]*newCode{
		"whole executions": watchNewCode(&Config{Speedups: []int{0, 50}}, true),
		"nothing sped up":  watchNewCode(&Config{Speedups: []int{0}, Points: []point.Spec{{Kind: point.Func}}}, false),
	} {
		if got := met(off, 100, 0, 200); got != usable {
			t.Errorf("%s: %q", name, got)
		}
	}
	if long := watchNewCode(&Config{Speedups: []int{0, 50}, Duration: time.Hour}, false); long.allowed != longestNew {
		t.Errorf("of an hour %v may be discarded", long.allowed)
	}
}
