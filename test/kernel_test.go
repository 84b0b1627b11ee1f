package test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/code/symbol/kernel"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

const kernelCode = "testdata/kernelcode.c"

// kernelProgram skips where the kernel does not have the functions that the tests are about: each kernel may do the
// work of a system call in its own functions.
func kernelProgram(t *testing.T, functions ...string) string {
	t.Helper()
	realkernel.NeedQuiet(t)
	k := kernel.New("")
	defer k.Close()
	for _, name := range functions {
		if found, err := k.HasFunc(name); err != nil {
			t.Fatal(err)
		} else if !found {
			t.Skip("this kernel has no function ", name)
		}
	}
	return realkernel.Compile(t, kernelCode, "-O1")
}

// Without --kernel the kernel's time belongs to the line that calls it; with it, to the kernel's functions. A unit that
// includes what it calls has the time of all that.
func TestKernelFunctions(t *testing.T) {
	program := kernelProgram(t, "generic_perform_write")
	often := fmt.Sprintf("kernelcode.c:%d", realkernel.Line(t, kernelCode, "// OFTEN"))
	rarely := fmt.Sprintf("kernelcode.c:%d", realkernel.Line(t, kernelCode, "// RARELY"))
	const length = 2 * time.Second
	sharesAre(t, map[string]float64{often: 75, rarely: 25}, program, length)

	own, _ := shares(t, program, length/2, "--kernel")
	// They had 75 and 25 with the kernel's. To get into the kernel still counts for them, and takes longer on virtual
	// machines.
	if own[often] > 10 || own[rarely] > 5 {
		t.Errorf("lines have kernel time: %v", own)
	}
	included, _ := shares(t, program, length/2, "--kernel", "--include", "func:generic_perform_write")
	if names := slices.Collect(maps.Keys(included)); len(names) != 1 || included["self generic_perform_write"] < 60 {
		t.Errorf("with nothing else in scope: %v", included)
	}
	if testing.Short() {
		return
	}
	sharesAre(t, map[string]float64{often: 75, rarely: 25}, program, length, "--kernel", "--exclude", "binary:[kernel]")
}

// A stack goes on from the kernel into the program.
func TestKernelCallers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 4 s")
	}
	program := kernelProgram(t, "generic_perform_write", "vfs_write")
	got, _ := shares(t, program, 2*time.Second, "--kernel", "-t", "func:generic_perform_write<vfs_write<often",
		"-t", "generic_perform_write<rarely", "-t", "func:main")
	a, b := got["generic_perform_write<vfs_write<often"], got["generic_perform_write<rarely"]
	if a+b < 50 || math.Abs(a/(a+b)-0.75) > 0.03 || got["main"] < 95 {
		t.Errorf("three in four writes are called from often: %v", got)
	}
}

// What a softirq does is seen, although the tick is one itself, and the code that made it run is its caller.
func TestKernelSoftirq(t *testing.T) {
	program := kernelProgram(t, "net_rx_action")
	data, _ := profiled(t, []string{"--kernel", "-p", "func:visited", "-s", "0", "--period", "1ms", "-d", "1s",
		"-t", "func:net_rx_action", "-t", "func:net_rx_action<packets"}, []string{program, "udp"}, terminated)
	n, all := samplesOf(data)
	if n["net_rx_action"] < all/20 || n["net_rx_action<packets"] < n["net_rx_action"]*9/10 {
		t.Errorf("of %d samples %d in net_rx_action, %d below packets", all, n["net_rx_action"], n["net_rx_action<packets"])
	}
}

// Each thread of the kernel that works for others earns what it runs in the selected function, and all others are
// delayed.
func TestKernelThread(t *testing.T) {
	// Calls are counted, as single steps may take as much of the time as the writing.
	for _, x := range []struct{ does, call, target string }{
		{"tty", "write", "n_tty_receive_buf_common<process_one_work"},
		{"ring", "io_uring_enter", "generic_perform_write<io_wq_submit_work"},
		{"writeback", "syncfs", "wb_writeback<process_one_work"},
	} {
		if testing.Short() && x.does != "ring" {
			continue
		}
		t.Run(x.does, func(t *testing.T) {
			program := kernelProgram(t, strings.Split(x.target, "<")...)
			data, _ := profiled(t,
				[]string{"--kernel", "-p", "syscall:" + x.call, "-s", "0,100", "-d", "2s", "-t", "func:" + x.target},
				[]string{program, x.does}, terminated)
			var samples, delayed, visits, counting, without int64
			for _, e := range data.Experiments {
				if data.IsPlacebo(&e) {
					continue
				}
				if e.Speedup == 0 {
					counting, without = counting+e.DelayNS, without+e.Points[0].Count
					continue
				}
				delayed, visits = delayed+e.DelayNS, visits+e.Points[0].Count
				samples += e.UnitSamples[e.Unit]
			}
			// What counting the visits took is booked as a delay, too.
			delayed -= int64(float64(counting) / float64(max(without, 1)) * float64(visits))
			t.Logf("%d samples, %v", samples, time.Duration(delayed))
			if earned := samples * int64(time.Millisecond); samples < 50 || delayed < earned*3/4 || delayed > earned*5/4 {
				t.Errorf("%d samples of 1 ms in the kernel's thread, and %v of delays", samples, time.Duration(delayed))
			}
		})
	}
}

// A thread that waits is in the function that waits, not in the scheduler; and every wait that begins ends.
func TestKernelWaits(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "testdata/openloop.c")
	data, _ := profiled(t, []string{"--kernel", "-p", "func:done", "--waiting", "all", "-d", "1s"},
		[]string{program}, terminated)
	var inKernel, all int64
	for _, e := range data.Experiments {
		for id, classes := range e.UnitWaitedNS {
			u := data.Units[id]
			for _, ns := range classes {
				all += ns
				if u.Binary == kernel.Name {
					inKernel += ns
				}
			}
			if strings.Contains(u.Name, "schedule") || u.Name == "do_nanosleep" {
				t.Errorf("%v was waited in %s", classes, u.Name)
			}
		}
	}
	if all == 0 || inKernel < all*9/10 {
		t.Errorf("%v of %v was waited in functions of the kernel", time.Duration(inKernel), time.Duration(all))
	}
	if n := data.End.Losses[ledger.WaitsLeft]; n != 0 {
		t.Errorf("%d waits never ended", n)
	}
}

// samplesOf are the samples of each unit, and of all.
func samplesOf(data *profile.Data) (n map[string]int64, all int64) {
	n = make(map[string]int64)
	for _, e := range data.Experiments {
		all += e.Samples
		for id, samples := range e.UnitSamples {
			n[data.Units[id].Name] += samples
		}
	}
	return n, all
}
