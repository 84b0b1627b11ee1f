package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"whatif/internal/load"
	"whatif/internal/testing/realkernel"
)

// With -s 0 nothing is a delay, and the scheduler is not followed, unless waiting is asked for. It is still known how
// many visits there are, and what runs.
func TestResting(t *testing.T) {
	realkernel.NeedBeside(t)
	program := realkernel.Compile(t, "testdata/naps.c")
	beside := exec.Command("sh", "-c", "while :; do :; done")
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer beside.Wait()
	defer beside.Process.Kill()
	const runs, naps = 8, 20
	used := func() load.Time {
		all, err := load.Read()
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, waiting := range []string{"none", "sleep"} {
		allBefore := used()
		data, _ := profiled(t,
			[]string{"-p", "syscall:clock_nanosleep", "-s", "0", "--repeat", strconv.Itoa(runs), "--waiting", waiting},
			[]string{program}, 0)
		if n := data.End.Visits[0]; n != runs*naps {
			t.Errorf("--waiting %s: %d visits, %d were made", waiting, n, runs*naps)
		}
		var wakes, samples, delay int64
		for _, e := range data.Experiments {
			wakes += e.Wakes
			samples += e.Samples
			delay += e.DelayNS
		}
		if samples == 0 || delay != 0 {
			t.Errorf("--waiting %s: %d samples, %d ns booked: expected some and none", waiting, samples, delay)
		}
		allAfter := used()
		share := realkernel.ForeignShare(data)
		if waiting == "none" {
			if wakes != 0 || share != 0 {
				t.Errorf("%d wake-ups seen, %.2f of the time others': expected none", wakes, share)
			}
			continue
		}
		// Foreign programs are the loop, which wants a core all of the time, and whatever else runs. So the core that the
		// loop is on is theirs unless the target has it. And they had no more in the experiments than all had in all of the
		// time.
		var others, real time.Duration
		for _, e := range data.Experiments {
			others, real = others+time.Duration(e.ForeignNS), real+time.Duration(e.RealNS)
		}
		targets, all := time.Duration(samples*data.Run.PeriodNS), allAfter.Busy-allBefore.Busy
		t.Logf("in experiments of %v others had %v, the target %v; all together had %v", real, others, targets, all)
		const clocks = 50 * time.Millisecond // go by 10 ms
		if wakes == 0 || others < (real-targets)*3/4 || others > all+clocks {
			t.Errorf("--waiting %s: %d wake-ups seen, others had %v", waiting, wakes, others)
		}
	}
}

// cpuTimeOf is how much of the processors a process has had so far.
func cpuTimeOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the third on
	var ticks [2]int64
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil { // utime, stime
			t.Fatal(err)
		}
	}
	const userHZ = 100
	return time.Duration(ticks[0]+ticks[1]) * time.Second / userHZ
}

// The cost of following goroutines' sleep is no delay, either.
func TestRestingGoroutines(t *testing.T) {
	realkernel.NeedBeside(t)
	const rounds = 100
	data, _ := profiled(t, []string{"-p", "func:main.done", "-s", "0", "--waiting", "sleep"},
		[]string{buildGoSleep(t, "-ldflags="), strconv.Itoa(rounds)}, 0)
	if n := data.End.Visits[0]; n != rounds {
		t.Errorf("%d visits, %d were made", n, rounds)
	}
	var slept, delay int64
	for _, e := range data.Experiments {
		slept += e.WaitedNS["sleep"]
		delay += e.DelayNS
	}
	if slept == 0 || delay != 0 {
		t.Errorf("slept for %d ns, %d ns booked: expected some and none", slept, delay)
	}
}
