package test

import (
	"fmt"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// A line, another line and a class of waiting are faster at once, each by its own amount: one row says what that gains,
// by experiments. Of 4 ms, half of 2, a quarter of 1, and half of the sleep are gone.
func TestTogether(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/together.c"
	program := realkernel.Compile(t, source)
	at := func(mark string, percent int) string {
		return fmt.Sprintf("together.c:%d=%d", realkernel.Line(t, source, "/* "+mark+" */"), percent)
	}
	flags := []string{"-p", "func:round_done", "--together", at("ONE", 50), "--together", at("OTHER", 25),
		"--together", "wait:sleep=50", "-d", "3s"}
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		data, _ := profiled(t, flags, []string{program}, 143)
		result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
		var tried []*analyze.Target
		for i := range result.Targets {
			if result.Targets[i].Tried > 0 {
				tried = append(tried, &result.Targets[i])
			}
		}
		if len(tried) != 1 || tried[0].Unit.Kind != profile.Together || len(tried[0].Together) != 3 {
			t.Fatalf("tried: %+v, want one combination", tried)
		}
		if len(tried[0].Effects) == 0 {
			t.Fatalf("no gain of %+v", tried[0])
		}
		gain, _ := tried[0].Effects[0].At(100)
		if _, part := tried[0].Effects[0].At(50); part {
			t.Error("a part of a combination has a gain")
		}
		figure := noise.Figure{Name: "the gain of all of it", Value: gain.Value}
		figure.Low, figure.High = 38, 48 // 43.75; the sleep takes a little longer
		return []noise.Figure{figure}, realkernel.ForeignShare(data)
	})
}

// Experiments about a machine with half of the processor's speed: a round there takes 7 ms instead of 4. All that takes
// no processor is faster relative to it, in baselines, too, and the line has a larger part there.
func TestExperimentsThere(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/together.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("together.c:%d", realkernel.Line(t, source, "/* ONE */"))
	flags := []string{"-p", "func:round_done", "-t", line, "-s", "0,50", "--device", "cpu=0.5", "-d", "3s"}
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		data, _ := profiled(t, flags, []string{program}, 143)
		here := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
		there := analyze.Analyze([]*profile.Data{data.OnDevice()}, analyze.Options{})
		for _, r := range []*analyze.Result{here, there} {
			if r.Baselines == 0 || len(r.Points) == 0 || len(r.Targets) == 0 || len(r.Targets[0].Effects) == 0 {
				t.Fatalf("%d baselines, %d points, targets %+v", r.Baselines, len(r.Points), r.Targets)
			}
		}
		if data.Run.Device == nil {
			t.Fatal("no device")
		}
		if s := data.Run.Device; s.CPU != 0 || s.Net != 0.5 || s.Disk != 0.5 || s.Clock != 0.5 {
			t.Errorf("the standing speed-up is %+v", s)
		}
		gainOf := func(r *analyze.Result) float64 {
			gain, _ := r.Targets[0].Effects[0].At(50)
			return gain.Value
		}
		longer := 2 * here.Points[0].Rate / there.Points[0].Rate // virtual time takes twice as long there
		figures := []noise.Figure{
			{Name: "how many times as long a round takes there", Value: longer},
			{Name: "the gain here", Value: gainOf(here)},
			{Name: "the gain there", Value: gainOf(there)},
		}
		for i, limits := range [][2]float64{{1.55, 1.9}, {19, 30}, {24, 34}} { // 1.75, 25 and 28.6
			figures[i].Low, figures[i].High = limits[0], limits[1]
		}
		return figures, realkernel.ForeignShare(data)
	})
}
