package analyze

import (
	"fmt"
	"slices"
	"testing"

	"whatif/internal/profile"
)

// TestStackDoubts: samples with stacks that led nowhere are given as a share of all. A few that
// came before their tables were read need no warning.
func TestStackDoubts(t *testing.T) {
	for _, test := range []struct {
		losses       map[string]int64
		want, detail []string
	}{
		{nil, nil, nil},
		{map[string]int64{profile.LossTable: 20}, nil, nil},
		{map[string]int64{profile.LossStack: 3, "map full": 2}, nil, []string{
			uncalled("0.3", 3),
			"the kernel side had no room for some events, which gains do not count: map full 2",
		}},
		{map[string]int64{profile.LossStack: 10, "map full": 20}, []string{
			uncalled("1.0", 10),
			"the kernel side had no room for some events, which gains do not count: map full 20",
		}, nil},
		{map[string]int64{profile.LossStack: 1, profile.LossTable: 100}, []string{
			"10.0% of the samples came too early to be given to any code: stacks met before their unwind tables were read " +
				"100; a longer run has fewer",
		}, []string{uncalled("0.1", 1)}},
		{map[string]int64{profile.LossPlace: 100, profile.LossTable: 20}, []string{
			"12.0% of the samples came too early to be given to any code: samples at code met for the first time 100, stacks " +
				"met before their unwind tables were read 20; a longer run has fewer",
		}, nil},
	} {
		d := &profile.Data{
			Run:         profile.Run{CPUs: 2, Points: []profile.Point{{Name: "p"}}},
			Experiments: []profile.Experiment{{RealNS: 1e9, Samples: 1000, Losses: test.losses}},
		}
		var res Result
		in := &input{runs: []*profile.Data{d}}
		in.experimentWarnings(&res)
		if got := textsOf(res.Warnings); !slices.Equal(got, test.want) {
			t.Errorf("%v:\n%q, want\n%q", test.losses, got, test.want)
		}
		if got := textsOf(res.Details); !slices.Equal(got, test.detail) {
			t.Errorf("%v: details\n%q, want\n%q", test.losses, got, test.detail)
		}
	}
}

func uncalled(percent string, n int) string {
	return fmt.Sprintf("of %s%% of the samples (%d) the callers could not be found: shares and gains of functions that "+
		"call others are too small by so much. Build with frame pointers, or with unwind tables", percent, n)
}

// TestEarlyElsewhere: samples that came too early in a warm-up, or in experiments that are discarded, say nothing of
// the result.
func TestEarlyElsewhere(t *testing.T) {
	lost := map[string]int64{profile.LossPlace: 100, profile.LossTable: 200}
	d := &profile.Data{
		Run: profile.Run{CPUs: 2, Points: []profile.Point{{Name: "p"}}},
		Experiments: []profile.Experiment{
			{RealNS: 1e9, Samples: 1000, Losses: lost, SetAside: "ended early"}, {RealNS: 1e9, Samples: 1000},
		},
		End: &profile.End{Losses: map[string]int64{profile.LossPlace: 500, profile.LossTable: 700}},
	}
	var res Result
	in := &input{runs: []*profile.Data{d}}
	in.experimentWarnings(&res)
	for _, w := range append(res.Warnings, res.Details...) {
		if w.Code == "early-stacks" || w.Code == "losses" {
			t.Error(w.Text)
		}
	}
}

// textsOf are the texts of warnings, but for the one that there are no experiments.
func textsOf(all Warnings) (texts []string) {
	for _, w := range all {
		if w.Code != "no-data" {
			texts = append(texts, w.Text)
		}
	}
	return texts
}
