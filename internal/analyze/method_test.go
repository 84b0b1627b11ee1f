package analyze

import (
	"math"
	"testing"

	"whatif/internal/analyze/student"
	"whatif/internal/profile"
)

// TestMethodError: if noise is averaged out, the method error remains in intervals.
func TestMethodError(t *testing.T) {
	w := world{pairs: 400, units: []code{{share: 0.6, gain: linear(0.5)}}, noise: 0.03, targets: true}
	d := []*profile.Data{w.run(1)}
	bare := Analyze(d, Options{Simulated: true}).Targets[0].Effects[0]
	whole := Analyze(d, Options{}).Targets[0].Effects[0]
	for i, l := range whole.Curve[1:] {
		was := bare.Curve[1+i].Gain.Half()
		want := math.Hypot(was, student.Normal(Alpha)*100*methodError(float64(l.Speedup)/100, l.Gain.Value/100))
		if math.Abs(l.Gain.Half()-want) > 1e-9 || l.Gain.Value != bare.Curve[1+i].Gain.Value {
			t.Errorf("at %d%%: ±%v, %v without the method's error, want ±%v", l.Speedup, l.Gain.Half(), was, want)
		}
	}
	if h := whole.Slope.Half(); h < 1.96*methodPart*whole.Slope.Value {
		t.Errorf("slope ±%v", h)
	}
	// An effect can still be distinguished from none.
	if half := student.Normal(Alpha) * 100 * methodError(1, 0); half > DefaultMargin {
		t.Errorf("±%v at no gain: no verdict could be \"none\" within ±%v", half, DefaultMargin)
	}
}
