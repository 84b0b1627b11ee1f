package experiment

import (
	"fmt"
	"testing"

	"whatif/internal/realkernel"
)

// Who sleeps by the clock waits, when it wakes up, for what it owes: it comes to run
// less often by as much, and in baselines not at all.
func TestSleepersAreHeld(t *testing.T) {
	realkernel.Need(t)
	const source = "testdata/openloop.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("openloop.c:%d", realkernel.Line(t, source, "/* WORK */"))
	data, _ := profiled(t, []string{"-l", "r=func:made..func:done", "-t", line, "-s", "50", "-d", "6s"}, []string{program}, 143)
	var held, real int64
	rate := 0.0 // visits a nanosecond, the most in any baseline
	for _, e := range data.Experiments {
		if e.IsBaseline() && e.SetAside != "ended early" {
			rate = max(rate, float64(e.Points[0].Count)/float64(e.RealNS))
			if e.HeldNS != 0 {
				t.Errorf("experiment %d is a baseline, and held for %d ns", e.Index, e.HeldNS)
			}
		}
	}
	for _, e := range data.Experiments {
		if e.IsBaseline() || e.SetAside == "ended early" {
			continue
		}
		held, real = held+e.HeldNS, real+e.RealNS
		most := rate*float64(e.RealNS-e.HeldNS)*1.1 + 2
		t.Logf("%d visits, %.0f%% of the time held, at most %.0f expected", e.Points[0].Count, 100*float64(e.HeldNS)/float64(e.RealNS), most)
		if float64(e.Points[0].Count) > most {
			t.Errorf("experiment %d: %d visits, at most %.0f were possible", e.Index, e.Points[0].Count, most)
		}
	}
	// Half of it, where nobody else wants the core.
	if held == 0 || held > real*6/10 {
		t.Errorf("held for %d of %d ns", held, real)
	}
}
