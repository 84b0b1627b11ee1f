package experiment

import (
	"testing"

	"whatif/internal/profile"
)

// Time that is always taken is part of the run. Time that is taken from one experiment only disturbs that one.
func TestDisturbed(t *testing.T) {
	d := &disturbance{cpus: 2}
	took := func(steal, foreign int64) reason {
		return d.in(&profile.Experiment{RealNS: 1000, StealNS: steal * 20, ForeignNS: foreign * 20}) // percent of 2 cores
	}
	for range 7 {
		if why := took(30, 40); why != usable {
			t.Fatalf("set aside for %q before anything is known to be usual", why)
		}
	}
	for _, c := range []struct {
		steal, foreign int64
		want           reason
	}{
		{30, 40, usable}, {39, 54, usable}, {41, 40, "steal"}, {30, 56, "foreign CPU time"}, {41, 56, "steal"},
		{0, 0, usable},
	} {
		if got := took(c.steal, c.foreign); got != c.want {
			t.Errorf("steal %d%%, foreign %d%%: %q, want %q", c.steal, c.foreign, got, c.want)
		}
	}
	if got := d.in(&profile.Experiment{}); got != "empty" {
		t.Errorf("no time at all: %q", got)
	}
}
