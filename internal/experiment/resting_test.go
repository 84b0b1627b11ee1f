package experiment

import (
	"os/exec"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/realkernel"
)

// With -s 0 what the scheduler does is not looked at, unless waiting is asked for; and it is known still how many
// visits there are, who runs, and what other programs take.
func TestResting(t *testing.T) {
	realkernel.Need(t)
	program := realkernel.Compile(t, "testdata/naps.c")
	beside := exec.Command("sh", "-c", "while :; do :; done")
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer beside.Wait()
	defer beside.Process.Kill()
	var sum [2]profile.Experiment
	for i, flags := range [][]string{{"-p", "syscall:clock_nanosleep", "-s", "0"}, {"-p", "syscall:clock_nanosleep", "-s", "0", "--waiting", "sleep"}} {
		const runs, naps = 20, 20
		data, _ := profiled(t, append(flags, "--repeat", "20"), []string{program}, 0)
		if n := data.End.Visits[0]; n != runs*naps {
			t.Errorf("%v: %d visits, %d were made", flags, n, runs*naps)
		}
		for _, e := range data.Experiments {
			sum[i].RealNS += e.RealNS
			sum[i].ForeignNS += e.ForeignNS
			sum[i].Wakes += e.Wakes
			sum[i].Samples += e.Samples
		}
		sum[i].RealNS *= int64(data.Run.CPUs)
	}
	rests, follows := sum[0], sum[1]
	if rests.Wakes != 0 || follows.Wakes == 0 {
		t.Errorf("%d wake-ups seen, %d where waiting is followed: expected none, and some", rests.Wakes, follows.Wakes)
	}
	if rests.Samples == 0 {
		t.Error("no samples")
	}
	// The loop has a core but for what the program runs: the same share, known by samples or from the scheduler.
	share := func(e profile.Experiment) float64 { return float64(e.ForeignNS) / float64(e.RealNS) }
	if a, b := share(rests), share(follows); a < 0.6*b || a > 1.6*b {
		t.Errorf("others took %.2f of the time, %.2f where the scheduler is followed", a, b)
	}
}
