package test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/analyze"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// What a thread waited for is told, for every system call, and counts for the line that waited; and every wait that
// begins ends.
func TestWaitsByLine(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/waits.c"
	program := realkernel.Compile(t, source)
	const rounds = 60
	stdin, other := socketPair(t)
	defer stdin.Close()
	go func() {
		defer other.Close()
		for request := make([]byte, 1); ; {
			if _, err := other.Read(request); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
			if _, err := other.Write(request); err != nil {
				return
			}
		}
	}()
	data, _ := profiledWith(t, stdin, []string{"-p", "func:visited", "--waiting", "all", "-s", "50,100"},
		[]string{program, fmt.Sprint(rounds)}, 0)
	waited := make(map[int]map[string]int64) // by line
	for _, e := range data.Experiments {
		for id, classes := range e.UnitWaitedNS {
			u := data.Units[id]
			if filepath.Base(u.File) != "waits.c" {
				continue
			}
			if waited[u.Line] == nil {
				waited[u.Line] = make(map[string]int64)
			}
			for class, ns := range classes {
				waited[u.Line][class] += ns
			}
		}
	}
	for mark, class := range map[string]string{
		"SLEEPS": "sleep", "READS": "net", "SYNCS": "disk", "CHILD": "child", "LOCKS": "lock", "RING": "sleep",
	} {
		classes := waited[realkernel.Line(t, source, "/* "+mark+" */")]
		var all int64
		for _, ns := range classes {
			all += ns
		}
		if mark == "SYNCS" && all == 0 && inMemory(t, "/var/tmp") {
			continue // nothing to wait for
		}
		if all == 0 || classes[class] < all*9/10 {
			t.Errorf("%s: waited %v ns, expected %s", mark, classes, class)
		}
	}
	// It is stopped for 20 ms, about 1 ms into a sleep of 10: that counts as other, and is several times a sleep of 2 ms.
	stopped := waited[realkernel.Line(t, source, "/* STOPPED */")]
	slept := waited[realkernel.Line(t, source, "/* SLEEPS */")]["sleep"]
	if other := stopped["other"]; other < 4*slept || stopped["sleep"] > other/2 || stopped["lock"] > other/10 {
		t.Errorf("stopped while asleep: waited %v ns, expected it to be other's, "+
			"and several times the %d ns of a sleep of 2 ms", stopped, slept)
	}
	if n := data.End.Losses[ledger.WaitsLeft]; n != 0 {
		t.Errorf("%d waits never ended", n)
	}
}

// A unit that does nothing but wait is found without being named.
func TestSleepersAreUnits(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/openloop.c"
	program := realkernel.Compile(t, source)
	name := fmt.Sprintf("openloop.c:%d", realkernel.Line(t, source, "/* SLEEP */"))
	runUntil(t, "experiments about "+name+", which sleeps", func(data *profile.Data) bool {
		return slices.ContainsFunc(data.Experiments, func(e profile.Experiment) bool {
			return e.Unit != 0 && data.Units[e.Unit].Name == name
		})
	}, []string{"-p", "func:done", "--experiment", "50ms"}, program)
}

// The line that a program sleeps in ranks first where that costs it most, and need not be named.
func TestHiddenBackOff(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/backoff.c"
	program := realkernel.Compile(t, source, "-O1")
	data, _ := profiled(t, []string{"-p", "func:done", "-d", "10s"}, []string{program}, 143)
	result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
	if len(result.Targets) == 0 || len(result.Targets[0].Effects) == 0 {
		t.Fatal("nothing was tried")
	}
	first := result.Targets[0]
	line := fmt.Sprintf("backoff.c:%d", realkernel.Line(t, source, "/* BACKS OFF */"))
	gain, _ := first.Effects[0].At(50)
	t.Logf("first: %s, %s, at 50%% %.1f [%.1f, %.1f]", first.Unit.Name, first.Effects[0].Verdict, gain.Value, gain.Low,
		gain.High)
	if first.Unit.Name != line {
		t.Errorf("%s ranks first, and not %s", first.Unit.Name, line)
	}
}

func inMemory(t *testing.T, dir string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC
}

// What is earned by threads that sleep is paid by the threads that run meanwhile, also by one that has slept itself,
// and where more threads want the core than can have it. Otherwise they would compute more than the cores can.
func TestSleepersPay(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/crowd.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("crowd.c:%d", realkernel.Line(t, source, "/* SLEEPS */"))
	data, _ := profiled(t, []string{"-p", "func:slept", "-t", line, "-s", "0,100", "-d", "1200ms"}, []string{program}, 143)
	var spared, unpaid int64
	for _, e := range spedUp(data) {
		spared += e.DelayNS
		unpaid += e.UnpaidNS
	}
	t.Logf("%d ns spared, %d of them not paid", spared, unpaid)
	if spared == 0 || unpaid > spared/20 {
		t.Errorf("not paid: %d ns of %d", unpaid, spared)
	}
}
