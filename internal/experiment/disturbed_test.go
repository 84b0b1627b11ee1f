package experiment

import (
	"testing"

	"whatif/internal/profile"
)

// TestDisturbed: what is always taken is part of the run; what is taken from one
// experiment only disturbs that one.
func TestDisturbed(t *testing.T) {
	s := &session{data: &profile.Data{Run: profile.Run{CPUs: 2}}}
	took := func(steal, foreign int64) string {
		return s.disturbed(&profile.Experiment{RealNS: 1000, StealNS: steal * 20, ForeignNS: foreign * 20}) // percent of 2 cores
	}
	for range 7 {
		if why := took(30, 40); why != "" {
			t.Fatalf("set aside for %q before anything is known to be usual", why)
		}
	}
	for _, c := range []struct {
		steal, foreign int64
		want           string
	}{{30, 40, ""}, {39, 54, ""}, {41, 40, "steal"}, {30, 56, "foreign CPU time"}, {41, 56, "steal"}, {0, 0, ""}} {
		if got := took(c.steal, c.foreign); got != c.want {
			t.Errorf("steal %d%%, foreign %d%%: %q, want %q", c.steal, c.foreign, got, c.want)
		}
	}
	if got := s.disturbed(&profile.Experiment{}); got != "empty" {
		t.Errorf("no time at all: %q", got)
	}
}
