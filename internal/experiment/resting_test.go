package experiment

import (
	"os/exec"
	"strconv"
	"testing"

	"whatif/internal/realkernel"
)

// With -s 0 nothing is a delay, and what the scheduler does is not looked at, unless waiting is asked for; how many visits
// there are, and who runs, is known still.
func TestResting(t *testing.T) {
	realkernel.Need(t)
	program := realkernel.Compile(t, "testdata/naps.c")
	beside := exec.Command("sh", "-c", "while :; do :; done")
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer beside.Wait()
	defer beside.Process.Kill()
	const runs, naps = 20, 20
	for _, waiting := range []string{"none", "sleep"} {
		data, _ := profiled(t, []string{"-p", "syscall:clock_nanosleep", "-s", "0", "--repeat", strconv.Itoa(runs), "--waiting", waiting}, []string{program}, 0)
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
		share := foreignShare(data)
		if waiting == "none" {
			if wakes != 0 || share != 0 {
				t.Errorf("%d wake-ups seen, %.2f of the time others': expected none", wakes, share)
			}
			continue
		}
		// The loop has a core, which it does not leave, but for what the program runs.
		if cores := float64(data.Run.CPUs); wakes == 0 || share*cores < 0.6 || share*cores > 1.2 {
			t.Errorf("--waiting %s: %d wake-ups seen, %.2f cores others'", waiting, wakes, share*cores)
		}
	}
}

// Nor is what it costs to follow goroutines' sleep.
func TestRestingGoroutines(t *testing.T) {
	realkernel.Need(t)
	const rounds = 100
	data, _ := profiled(t, []string{"-p", "func:main.done", "-s", "0", "--waiting", "sleep"}, []string{buildGoSleep(t, "-ldflags="), strconv.Itoa(rounds)}, 0)
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
