package test

import (
	"fmt"
	"runtime"
	"testing"

	"whatif/internal/kerneltypes"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// Other threads are stopped in their turns for what a thread need not pay in its own, and that stops the same kind of
// thread on another core. That does not let the thread off more of its debt, nor are the others stopped for it again:
// the delays are about what is earned.
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
		// The target has 0.75 of the threads that earn: 0.375, in turn on two cores. If it were stopped for fairness: 0.53.
		{"kinds", "50", 0.50},
		// 0.95 of its time: 0.24. If the threads that earn little were not stopped, either: 0.35 to 0.41.
		{"earners", "25", 0.30},
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
