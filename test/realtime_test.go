package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// A real-time task that wakes on a stopped core has it at once, however much is owed; that is paid later.
func TestRealTimeTaskEndsStop(t *testing.T) {
	realkernel.NeedQuiet(t)
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU")
	}
	const source = "testdata/realtime.c"
	program := realkernel.Compile(t, source, "-O1", "-pthread")
	probe := startPulse(t, program, "wake")
	for end := time.Now().Add(10 * time.Second); probe.rounds() < 100; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			said, _ := os.ReadFile(probe.stderr)
			if strings.Contains(string(said), "sched_setscheduler") {
				t.Skipf("no real-time priority here: %s", said)
			}
			t.Fatalf("the real-time task does not run\n%s", said)
		}
	}
	work := startPulse(t, program, "work")
	work.await(t)
	over := 3 * time.Second
	if testing.Short() {
		over = time.Second
	}
	lateness := func() (late, worst time.Duration) {
		before := probe.word(3)
		probe.set(2, 0)
		time.Sleep(over)
		return time.Duration(probe.word(3)-before) * time.Microsecond, time.Duration(probe.word(2)) * time.Microsecond
	}
	lateAlone, worstAlone := lateness()
	a := &attaching{file: filepath.Join(t.TempDir(), "whatif.profile")}
	a.cmd = exec.Command(realkernel.Whatif(t), "attach", "--quiet", "--experiment", "200ms", "-o", a.file,
		"-p", "func:done", "-s", "100",
		"-t", fmt.Sprintf("realtime.c:%d", realkernel.Line(t, source, "// SELECTED")), fmt.Sprint(work.pid()))
	a.start(t)
	late, worst := lateness()
	data := a.detach(t)
	var delayed, stopped time.Duration
	for _, e := range data.Experiments {
		if !e.IsBaseline() {
			delayed, stopped = delayed+time.Duration(e.DelayNS), stopped+time.Duration(e.PausedNS)
		}
	}
	t.Logf("wake-ups at most %v late, those later than 1 ms %v together; without whatif %v, %v; "+
		"of %v of delays %v were paid in stops",
		worst, late, worstAlone, lateAlone, delayed, stopped)
	if stopped < 20*time.Millisecond {
		t.Fatalf("cores were stopped for %v only: this says nothing; losses %v", stopped, data.End.Losses)
	}
	if most := 25*time.Millisecond + 2*lateAlone; late > most {
		t.Errorf("wake-ups of a real-time task were late by %v in %v, more than %v", late, over, most)
	}
}
