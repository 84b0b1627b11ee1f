package analyze

import (
	"slices"
	"testing"

	"whatif/internal/profile"
)

// TestCrossCheck: shares and rates that differ by more than noise are warned of, and no others.
func TestCrossCheck(t *testing.T) {
	for _, c := range []struct {
		share         float64 // in experiments, of 40,000 samples
		samples       int64   // of the unit in the recording, of 5,000
		rate          float64 // in the recording; 100 in baselines
		shares, paces bool
	}{
		{60, 3000, 100, false, false},
		{58, 3500, 101, true, false},  // 70%
		{58, 3100, 100, false, false}, // 62%
		{0.1, 50, 97, false, false},   // few samples
		{60, 3000, 108, false, true},
		{60, 3000, 92, false, true},
		{60, 3000, 0, false, false},
	} {
		unit := profile.Unit{Kind: "line", Name: "is.c:9", Line: 9}
		r := &Result{Margin: DefaultMargin, Experiments: 100, Baselines: 100, RealNS: 40e9,
			Points: []Point{{Name: "p", Rate: 100, Noise: 2}},
			Targets: []Target{{Unit: unit, Share: c.share, Samples: int64(400 * c.share),
				Effects: []Effect{{Metric: Throughput, Verdict: Unsure}}}}}
		r.AddEstimates(&Estimates{Seconds: 5, Points: []EstimatedPoint{{Name: "p", Visits: 500, Rate: c.rate}},
			Units: []EstimatedUnit{{Unit: unit, Samples: c.samples, Share: float64(c.samples) / 50}}})
		has := func(all Warnings, code string) bool {
			return slices.ContainsFunc(all, func(w Warning) bool { return w.Code == code })
		}
		if has(r.Targets[0].Warnings, "shares-differ") != c.shares {
			t.Errorf("%+v: %v", c, r.Targets[0].Warnings)
		}
		if has(r.Points[0].Warnings, "pace-differs") != c.paces || has(r.Warnings, "pace-differs") != c.paces {
			t.Errorf("%+v: %v, %v", c, r.Points[0].Warnings, r.Warnings)
		}
	}
}
