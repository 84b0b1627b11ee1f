package test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// Where each execution is an experiment waiting can be sped up, too: a class of waiting, and a line that does nothing
// but wait, which is found without being named.
func TestWholeRunsWait(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/naps.c"
	program := realkernel.Compile(t, source, "-O1")
	line := fmt.Sprintf("naps.c:%d", realkernel.Line(t, source, "/* SLEEPS */"))
	for _, c := range []struct {
		flags  []string
		unit   string
		repeat int // of two executions one is a baseline
	}{{[]string{"-t", "wait:sleep"}, "wait:sleep", times(6, 24)}, {nil, line, times(12, 24)}} {
		data, _ := profiled(t, append(c.flags, "-s", "50", "--repeat", strconv.Itoa(c.repeat)), []string{program}, 0)
		tried := 0
		for _, e := range data.Experiments {
			if e.IsBaseline() || data.Units[e.Unit].Name != c.unit {
				continue
			}
			tried++
			// Half of its sleep, except the first times, while its stack is unknown.
			if delay := time.Duration(e.DelayNS); delay < 10*time.Millisecond {
				t.Errorf("%s: of 40 ms of sleep at 50%% G has grown by %v", c.unit, delay)
			}
		}
		if tried == 0 {
			t.Errorf("%s was not tried in %d executions", c.unit, len(data.Experiments))
		}
	}
}

// An execution is over when its last process has ended, not when that is noticed, at multiples of 50 ms.
func TestWholeRunsEnd(t *testing.T) {
	realkernel.NeedQuiet(t)
	data, _ := profiled(t, []string{"--repeat", "3"}, []string{"sh", "-c", "sleep 0.302 &"}, 0)
	shortest := time.Hour
	for _, e := range data.Experiments {
		shortest = min(shortest, time.Duration(e.RealNS))
	}
	if shortest < 302*time.Millisecond || shortest > 348*time.Millisecond {
		t.Errorf("of %d executions, whose last process slept for 302 ms, the shortest took %v", len(data.Experiments),
			shortest)
	}
}

// What happens in a warm-up is in no experiment.
func TestWarmup(t *testing.T) {
	realkernel.NeedSession(t)
	program := realkernel.Compile(t, "testdata/backoff.c", "-O1")
	const warmup = 800 * time.Millisecond
	data, _ := profiled(t,
		[]string{"-p", "func:done", "--warmup", warmup.String(), "--experiment", "50ms", "-d", "1400ms"},
		[]string{program}, 143)
	if len(data.Experiments) == 0 {
		t.Fatal("no experiment")
	}
	first := data.Experiments[0]
	var waited int64
	for _, ns := range first.WaitedNS {
		waited += ns
	}
	// Two threads either compute or wait.
	all := time.Duration(first.Samples)*time.Duration(data.Run.PeriodNS) + time.Duration(waited)
	if all > 2*time.Duration(first.RealNS)+warmup/2 {
		t.Errorf("an experiment of %v has %d samples and waits of %v", time.Duration(first.RealNS), first.Samples,
			time.Duration(waited))
	}
}
