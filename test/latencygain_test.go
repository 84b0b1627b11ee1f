package test

import (
	"slices"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// The median time of a request shrinks with the line that nearly all of a request is.
func TestLatencyIsPredicted(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "../internal/cli/testdata/programs/server.c", "-I..")
	flags := []string{"-l", "request=func:handle_put..func:request_done", "-t", "parse.c:118", "-s", "0,50",
		"--experiment", "30ms", "-d", "600ms"}
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		data, _ := profiled(t, flags, []string{program}, terminated)
		result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
		if len(result.Targets) == 0 {
			t.Fatalf("no target in %d experiments", result.Experiments)
		}
		effects := result.Targets[0].Effects
		i := slices.IndexFunc(effects, func(e analyze.Effect) bool { return e.Metric == analyze.P50 })
		if i < 0 {
			t.Fatalf("no effect on the median: %+v", effects)
		}
		gain, ok := effects[i].At(50)
		if !ok {
			t.Fatalf("no gain of %d experiments", effects[i].Experiments)
		}
		f := noise.Around("by how much the median shrinks", gain.Value, 49, 7)
		f.Half, f.Usual = effects[i].NoiseAt(50), usualHalf
		return []noise.Figure{f}, realkernel.ForeignShare(data)
	})
}
