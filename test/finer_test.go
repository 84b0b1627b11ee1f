package test

import (
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// Ticks come more often where threads wait busily, or hand over several times in a period, unless a period was asked
// for. Samples are given in the run's periods all the same.
func TestFinerTicks(t *testing.T) {
	realkernel.NeedWhole(t)
	compile := func(source string) string {
		return realkernel.Compile(t, "../accuracy/programs/"+source, "-O2", "-pthread")
	}
	spin, convoy, barrier := compile("spin/spin.c"), compile("forms/convoy.c"), compile("barrier/barrier.c")
	for _, c := range []struct {
		program string
		flags   []string
		finer   bool
	}{
		{spin, nil, true}, {spin, []string{"--period", "1ms"}, false}, // waits busily
		{convoy, nil, true}, {convoy, []string{"--period", "1ms"}, false}, // hands over each 0.3 ms
		{barrier, nil, false}, // hands over each 5 ms
	} {
		data, _ := profiled(t, append(c.flags, "-p", "func:progress_done", "-s", "0,50", "-d", "3s"),
			[]string{c.program, "0", "100"}, 143)
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
			t.Errorf("%s %v: %v baselines of %d experiments have finer ticks", c.program, c.flags, finer,
				len(data.Experiments))
		case c.program == spin && c.finer && (samples < 1.2*cores || samples > 2.2*cores):
			t.Errorf("two threads run all the time, and had %.2f samples in each period", samples/cores)
		}
	}
}
