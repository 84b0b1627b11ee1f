package test

import (
	"fmt"
	"testing"

	"whatif/internal/testing/realkernel"
)

// Threads without visits are delayed by what counting costs the others, in baselines, too. Otherwise the threads with
// visits would be ahead there only.
func TestBaselinesPay(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/beside.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("beside.c:%d", realkernel.Line(t, source, "/* BESIDE */"))
	data, _ := profiled(t, []string{"-p", "func:done", "-t", line, "-s", "50", "--waiting", "none", "-d", "5s"},
		[]string{program}, 128+15)
	cost := float64(data.End.CountingNS[0]) / float64(data.End.RealNS)
	var paused, real float64
	for _, e := range data.Experiments {
		if e.IsBaseline() && e.SetAside == "" {
			paused, real = paused+float64(e.PausedNS), real+float64(e.RealNS)
		}
	}
	if real == 0 {
		t.Fatal("no baselines")
	}
	paid := paused / real
	t.Logf("counting takes %.1f%% of the time; in baselines cores were stopped for %.1f%%", 100*cost, 100*paid)
	// They pay for ticks, too.
	if paid < cost/2 || paid > 1.5*cost+mostForCounting {
		t.Error("that is not about the same")
	}
}
