package test

import (
	"fmt"
	"slices"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/demo"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// The demo's predictions are near its truths: line B is worth nothing, and line C a quarter of the time.
func TestDemoIsPredicted(t *testing.T) {
	realkernel.NeedWhole(t)
	lines := demo.Truth()
	b, c := lines[1], lines[2]
	if b.Gain(100) != 0 {
		t.Skip("a single CPU: line B is worth something")
	}
	program := append([]string{realkernel.Whatif(t)}, demo.Command()[1:]...)
	const terminated = 128 + 15
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		flags := []string{"-p", "round=" + demo.Point(), "-t", b.Name, "-t", c.Name, "-s", "50,100", "-d", "12s"}
		data, _ := profiled(t, flags, program, terminated)
		result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
		var figures []noise.Figure
		for _, line := range []demo.Line{b, c} {
			figures = append(figures, predicted(t, result, line.Name, 100, line.Gain(100)))
		}
		return figures, realkernel.ForeignShare(data)
	})
}

// predicted is the gain that a result has for a unit, in percent, and its truth.
func predicted(t *testing.T, result *analyze.Result, name string, speedup int, truth float64) noise.Figure {
	t.Helper()
	i := slices.IndexFunc(result.Targets, func(t analyze.Target) bool { return t.Unit.Name == name && len(t.Effects) > 0 })
	if i < 0 {
		t.Fatalf("nothing was found of %s in %d targets, %d experiments", name, len(result.Targets), result.Experiments)
	}
	effect := &result.Targets[i].Effects[0]
	gain, ok := effect.At(speedup)
	if !ok {
		t.Fatalf("%s: no gain at %d%% of %d experiments", name, speedup, effect.Experiments)
	}
	f := noise.Around(fmt.Sprintf("the gain of %s at %d%%", name, speedup), gain.Value, truth, mostOff)
	f.Half, f.Usual = effect.NoiseAt(speedup), usualHalf
	return f
}

// How many points a gain may be off on a quiet machine, where half of its interval is usualHalf at most without the
// method's own error.
const mostOff, usualHalf = 5, 3

// delays is for how long everything was delayed, and how long the experiments took in all: first of baselines, where
// ticks and visits delay, then of experiments in which something was sped up.
func delays(data *profile.Data) (delay, took [2]float64) {
	for i := range data.Experiments {
		e := &data.Experiments[i]
		which := 1
		if e.IsBaseline() {
			which = 0
		} else if data.IsPlacebo(e) {
			continue
		}
		delay[which] += float64(e.DelayNS)
		took[which] += float64(e.RealNS)
	}
	return delay, took
}
