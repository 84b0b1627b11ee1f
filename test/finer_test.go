package test

import (
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// Ticks come more often where threads wait busily, unless a period was asked for. Samples are given in the run's
// periods all the same.
func TestFinerTicks(t *testing.T) {
	realkernel.NeedWhole(t)
	program := realkernel.Compile(t, "../accuracy/programs/spin/spin.c", "-O2", "-pthread")
	for _, c := range []struct {
		flags []string
		finer bool
	}{{nil, true}, {[]string{"--period", "1ms"}, false}} {
		data, _ := profiled(t, append(c.flags, "-p", "func:progress_done", "-s", "0,50", "-d", "3s"),
			[]string{program, "0", "100"}, 143)
		var finer, samples, cores float64
		for _, e := range data.Experiments {
			if e.Ticks > 0 && e.IsBaseline() {
				finer++
				samples += float64(e.Samples)
				cores += float64(e.RealNS) / float64(time.Millisecond)
			}
		}
		switch {
		case (finer > 0) != c.finer:
			t.Errorf("%v: %v baselines of %d experiments have finer ticks", c.flags, finer, len(data.Experiments))
		case c.finer && (samples < 1.2*cores || samples > 2.2*cores):
			t.Errorf("two threads run all the time, and had %.2f samples in each period", samples/cores)
		}
	}
}
