package test

import (
	"fmt"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// A placebo delays everything by as much as it says, and belongs to no code. By the clock half of the rate is lost, and
// by virtual time nothing.
func TestPlacebo(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/steady.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("steady.c:%d", realkernel.Line(t, source, "/* TARGET */"))
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		flags := []string{"-p", "func:done", "-t", line, "-s", "50", "--waiting", "none", "--experiment", "100ms", "-d", "3s"}
		data, _ := profiled(t, flags, []string{program}, 128+15)
		return []noise.Figure{ratesLeft(t, data)}, realkernel.ForeignShare(data)
	})
}

// ratesLeft is what placebos leave of the rate of the baselines beside them, which should be all. It checks that each
// placebo delays as much as it was to.
func ratesLeft(t *testing.T, data *profile.Data) noise.Figure {
	t.Helper()
	beside := make(map[int]profile.Visits) // the pair's baseline
	for _, e := range data.Experiments {
		if e.IsBaseline() {
			beside[e.Pair] = e.Points[0]
		}
	}
	var left []float64
	for _, e := range data.Experiments {
		base := beside[e.Pair]
		if !data.IsPlacebo(&e) || e.SetAside != "" || base.Weight == 0 {
			continue
		}
		delayed, v := 100*float64(e.DelayNS)/float64(e.RealNS), e.Points[0]
		rate := v.Weight / v.WindowNS / (base.Weight / base.WindowNS)
		left = append(left, rate)
		t.Logf("experiment %d: %d%% asked for, %.1f%% delayed, %.2f of the rate is left", e.Index, e.Speedup, delayed, rate)
		// In turn less and more than half of a line that takes all of the time; and what counting visits takes is a delay,
		// too.
		if e.Speedup < 30 || e.Speedup > 50 || delayed < float64(e.Speedup)-2 || delayed > float64(e.Speedup)+6 {
			t.Errorf("experiment %d delayed %.1f%% of its time; %d%% were asked for, 35 or 50 expected", e.Index, delayed,
				e.Speedup)
		}
		if e.UnitSamples[e.Unit] != 0 || e.PausedNS == 0 {
			t.Errorf("experiment %d: %d samples of no code, cores stopped for %d ns", e.Index, e.UnitSamples[e.Unit], e.PausedNS)
		}
	}
	if len(left) == 0 {
		t.Fatalf("no placebo in %d experiments", len(data.Experiments))
	}
	// By the clock, where half of the rate would be lost, it would be 0.5 to 0.65.
	f := noise.Around("the part of the rate that placebos leave", 0, 1, 0.12)
	f.Value, f.Half = noise.Mean(left)
	f.Usual = 0.12
	if len(left) < 3 {
		f.Half, f.Usual = 0, 0 // two tell of no spread
	}
	return f
}
