package experiment

import (
	"fmt"
	"runtime"
	"testing"

	"whatif/internal/kerneltypes"
	"whatif/internal/noise"
	"whatif/internal/realkernel"
)

// Others are stopped in their turns for what a thread is spared in its own, and that stops the same kind of thread on another
// core. It is not spared more by that, nor are others stopped for it again: what is delayed is about what is earned.
func TestFairTurns(t *testing.T) {
	realkernel.NeedWhole(t)
	types, err := kerneltypes.Get()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := types.Kernel.AnyTypeByName("irqtime"); err == nil || runtime.NumCPU() < 2 {
		t.Skip("this kernel counts no stop as a part of a turn (CONFIG_IRQ_TIME_ACCOUNTING), or there is one CPU")
	}
	const source = "testdata/turns.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("turns.c:%d", realkernel.Line(t, source, "/* TARGET */"))
	for _, c := range []struct {
		how, speedup string
		most         float64 // of the time, besides what ticks take in baselines, too
	}{
		{"kinds", "50", 0.50},   // the target has 0.75 of who earns: 0.375, by turns on two cores. Were it stopped for fairness: 0.53
		{"earners", "25", 0.30}, // 0.95 of its time: 0.24. Were who earns little not stopped, either: 0.35 to 0.41
	} {
		t.Run(c.how, func(t *testing.T) {
			flags := []string{"-p", "func:round_done", "-t", line, "-s", "0," + c.speedup, "-d", "3s"}
			realkernel.Judge(t, func() ([]noise.Figure, float64) {
				data, _ := profiled(t, flags, []string{program, c.how}, 143)
				delay, took := delays(data)
				ticks, share := delay[0]/took[0], delay[1]/took[1]
				more := noise.Figure{Name: "the part of the time that is delayed, less that of baselines", Value: share - ticks}
				more.Low, more.High = 0.15, c.most
				return []noise.Figure{more}, realkernel.ForeignShare(data)
			})
		})
	}
}
