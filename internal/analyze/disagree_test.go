package analyze

import (
	"math"
	"slices"
	"testing"

	"whatif/internal/profile"
)

// TestDisagreement: runs that disagree have a wider interval with a warning, runs that agree are
// left alone.
func TestDisagreement(t *testing.T) {
	sims := simulations(400)
	run := func(gain float64, seed uint64, id string) *profile.Data {
		w := world{pairs: 40, levels: []int{25, 50, 75, 100}, units: []code{{share: 0.6, gain: linear(gain)}}, noise: 0.03,
			drift: 0.02, targets: true}
		d := w.run(seed)
		d.Run.ID = id
		return d
	}
	said := func(e *Effect) bool {
		return slices.ContainsFunc(e.Warnings, func(w Warning) bool { return w.Code == "runs-disagree" })
	}
	warned, held := 0, 0
	for i := range uint64(sims) {
		r := Analyze([]*profile.Data{run(0.5, 3*i, "a"), run(0.5, 3*i+1, "b"), run(0.5, 3*i+2, "c")},
			Options{Simulated: true})
		e := &r.Targets[0].Effects[0]
		if said(e) {
			warned++
		}
		if e.Slope.Low <= 0.5 && 0.5 <= e.Slope.High {
			held++
		}
	}
	t.Logf("of %d times three runs that are alike %d are said to disagree, and %d intervals hold the truth",
		sims, warned, held)
	if limit := disagreeTail*float64(sims) + 3*math.Sqrt(disagreeTail*float64(sims)); float64(warned) > limit+1 {
		t.Errorf("said of %d of %d that do not", warned, sims)
	}
	if short := 0.93*float64(sims) - 2*math.Sqrt(0.05*0.95*float64(sims)); float64(held) < short {
		t.Errorf("%d of %d intervals hold the truth", held, sims)
	}
	for i := range uint64(10) {
		r := Analyze([]*profile.Data{run(0.4, 3*i, "a"), run(0.6, 3*i+1, "b")}, Options{Simulated: true})
		e := &r.Targets[0].Effects[0]
		if !said(e) || e.Slope.Low > 0.42 || e.Slope.High < 0.58 {
			t.Errorf("of slopes of 0.4 and 0.6: %.2f to %.2f, %v", e.Slope.Low, e.Slope.High, e.Warnings)
		}
	}
	if x := chiQuantile(0.99, 1); math.Abs(x-6.635) > 0.1 {
		t.Errorf("χ² of 1: %v", x)
	}
	if x := chiQuantile(0.99, 5); math.Abs(x-15.086) > 0.1 {
		t.Errorf("χ² of 5: %v", x)
	}
}

// TestShortRunsDisagree: short runs have few experiments to estimate noise from. They get the
// warning if they contradict each other, but not because they are many.
func TestShortRunsDisagree(t *testing.T) {
	sims := max(100, simulations(400))
	for _, test := range []struct {
		name        string
		runs, pairs int
		apart       float64 // slopes of the first run, and of the others
		least, most float64 // percent
	}{
		{"two runs of five are alike", 2, 5, 0, 0, 1},
		{"ten runs of five are alike", 10, 5, 0, 0, 1},
		{"ten runs of ten are alike", 10, 10, 0, 0, 2},
		{"two runs of five contradict each other", 2, 5, 0.3, 80, 100},
		{"one of three runs of five contradicts the others", 3, 5, 0.3, 85, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := 0
			for seed := range uint64(sims) {
				var runs []*profile.Data
				for r := range test.runs {
					gain := 0.5
					if r == 0 {
						gain -= test.apart
					}
					w := world{pairs: test.pairs, levels: []int{50}, noise: 0.03, targets: true,
						units: []code{{share: 0.6, gain: linear(gain)}}}
					runs = append(runs, w.run(uint64(test.runs)*seed+uint64(r)))
				}
				if slices.Contains(codes(Analyze(runs, Options{Simulated: true}).Targets[0].Effects[0].Warnings), "runs-disagree") {
					said++
				}
			}
			percent := 100 * float64(said) / float64(sims)
			slack := 300 * math.Sqrt(0.02*0.98/float64(sims))
			t.Logf("said of %.1f%%", percent)
			if percent < test.least-slack || percent > test.most+slack {
				t.Errorf("said of %.1f%%, want %v to %v", percent, test.least, test.most)
			}
		})
	}
}
