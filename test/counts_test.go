package test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// Every visit is counted once, for every kind of point and of visitor: the program counts its own. Visits of other
// programs are not counted.
func TestExactVisits(t *testing.T) {
	realkernel.NeedSession(t)
	defer stranger()()
	const source = "testdata/counts.c"
	inCode := []string{"func:visited", "func:vis*ted", "func:visited%return",
		fmt.Sprintf("counts.c:%d", realkernel.Line(t, source, "// VISIT")), "usdt:visit", "usdt:counts:enabled"}
	points := append(inCode, "syscall:getppid", "syscall:getppid%exit", "tracepoint:syscalls:sys_enter_getppid",
		"tracepoint:timer:itimer_state", "exit")
	flags := []string{"--experiment", "20ms"}
	for i, p := range points {
		flags = append(flags, "-p", fmt.Sprintf("p%d=%s", i, p))
	}
	counts := realkernel.Compile(t, source, "-fPIE", "-pie")
	for _, load := range visitors(2000, 2000) {
		t.Run(load.name(), func(t *testing.T) {
			data, said := profiled(t, flags, append([]string{counts}, load.args...), 0)
			var own int64
			if _, err := fmt.Sscanf(said, "visits %d", &own); err != nil || own != load.visits {
				t.Fatalf("the program said %q, expected %d visits", said, load.visits)
			}
			for i, got := range data.End.Visits {
				want := own
				if points[i] == "exit" {
					want = load.children + 1
				}
				if got != want {
					t.Errorf("%s: %d visits counted, the program made %d; losses %v", points[i], got, want, data.End.Losses)
				}
				if i >= len(inCode) {
					continue
				}
				if data.Run.Points[i].Sites != 1 || data.End.Sites[i] != 1 {
					t.Errorf("%s: counted at %d places, then %d", points[i], data.Run.Points[i].Sites, data.End.Sites[i])
				}
				if data.End.CountingNS[i] < own*100 {
					t.Errorf("%s: %d visits took %d ns: no breakpoint is that fast", points[i], own, data.End.CountingNS[i])
				}
			}
		})
	}
}

// visitors are what testdata/counts.c is asked for: each kind of visitor by itself, or one after the other in one run,
// if the tests are to be short.
func visitors(longThreads, threads int64) (all []visiting) {
	each := []visiting{
		{[]string{"longthreads", fmt.Sprint(longThreads)}, 4 * longThreads, 0},
		{[]string{"threads", fmt.Sprint(threads)}, threads, 0},
		{[]string{"forks", "100"}, 600, 100},
		{[]string{"brief", "300"}, 300, 300},
		{[]string{"execs", "20"}, 2000, 20},
		{[]string{"vforks", "20"}, 2020, 20},
		{[]string{"orphans", "25"}, 500, 25},
	}
	if !testing.Short() {
		return each
	}
	var together visiting
	for _, v := range each {
		together.args = append(together.args, v.args...)
		together.visits += v.visits
		together.children += v.children
	}
	return []visiting{together}
}

// visiting is a run of testdata/counts.c.
type visiting struct {
	args     []string
	visits   int64 // which the program counts itself, too
	children int64 // processes besides the first
}

func (v visiting) name() string {
	if len(v.args) > 2 {
		return "all"
	}
	return v.args[0]
}

// stranger makes the system call of the test's points, in this process, until it is told to stop.
func stranger() (stop func()) {
	done := make(chan struct{})
	var at sync.WaitGroup
	at.Go(func() {
		for tick := time.Tick(100 * time.Microsecond); ; {
			select {
			case <-done:
				return
			case <-tick:
				unix.Getppid() // the result does not matter
			}
		}
	})
	return func() { close(done); at.Wait() }
}

// System calls by the entry for 32-bit programs have numbers of their own, and are not counted.
func TestCompatCalls(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is for x86-64")
	}
	realkernel.NeedBeside(t)
	program := realkernel.Compile(t, "testdata/compat.c")
	data, said := profiled(t,
		[]string{"-s", "0", "-p", "syscall:writev", "-p", "syscall:writev%exit", "-p", "syscall:getpid"},
		[]string{program}, 0)
	if said == "no entry\n" {
		t.Skip("this kernel has no entry for 32-bit programs")
	}
	// Number 20 is writev, and for 32-bit programs getpid.
	if got := data.End.Visits; got[0] != 7 || got[1] != 7 || got[2] != 1 {
		t.Errorf("%v visits, made: 7 calls of writev, 1 of getpid, 1000 of the other getpid", got)
	}
}

// Samples of one line are one unit, from whichever process and wherever that has loaded the program.
func TestOneUnitForAllProcesses(t *testing.T) {
	realkernel.NeedBeside(t)
	const source = "testdata/counts.c"
	counts := realkernel.Compile(t, source, "-fPIE", "-pie")
	line := realkernel.Line(t, source, "// WORK")
	for _, how := range []string{"forks", "execs"} {
		n := map[string]string{"forks": "1500", "execs": "100"}[how]
		data, _ := profiled(t, []string{"-p", "func:visited", "-s", "0", "--experiment", "20ms", "--period", "500us"},
			[]string{counts, how, n}, 0)
		var id uint32
		for i, u := range data.Units {
			if filepath.Base(u.File) == "counts.c" && u.Line == line {
				if id != 0 {
					t.Errorf("%s: units %d and %d are both line %d", how, id, i, line)
				}
				id = i
			}
		}
		if id == 0 {
			t.Errorf("%s: line %d is no unit", how, line)
			continue
		}
		var inLine, inUnits int64
		for _, e := range data.Experiments {
			inLine += e.UnitSamples[id]
			for _, n := range e.UnitSamples {
				inUnits += n
			}
		}
		// Most of the rest belongs to the kernel, for the lines that fork, wait and exit: nine tenths on some virtual
		// machines.
		if inLine < 10 || inLine < inUnits/20 {
			t.Errorf("%s: the line has %d of %d samples", how, inLine, inUnits)
		}
	}
}
