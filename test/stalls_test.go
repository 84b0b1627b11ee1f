package test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// The host keeps the program's core a fifth of the time, and nothing tells it but late ticks. Such a stall is no work,
// and a delay as far as virtual time is shorter than real time.
func TestStalls(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source, speedup = "testdata/steady.c", 0.5
	program := realkernel.Compile(t, source)
	target := fmt.Sprintf("steady.c:%d", realkernel.Line(t, source, "/* TARGET */"))
	kept := keepCore(t, 0, 3*time.Millisecond, 70)
	data, _ := profiled(t, []string{"-t", target, "-s", "50", "-p", "func:done", "-d", "3s"},
		[]string{"taskset", "1", program}, terminated)
	share := kept()
	if share < 0.1 || share > 0.4 {
		t.Fatalf("the core was kept for %.2f of the time", share)
	}
	var real, stalled float64
	for _, e := range data.Experiments {
		if e.Speedup == 50 && e.SetAside == "" && !data.IsPlacebo(&e) {
			real += float64(e.RealNS)
			stalled += float64(e.LevelsNS["host kept core"])
		}
	}
	if real == 0 {
		t.Fatalf("no experiment of %d", len(data.Experiments))
	}
	// What a stall takes before a tick is due does not show: of 3 ms half a millisecond.
	t.Logf("the core was kept for %.3f of the time, and stalls were a delay of %.3f", share, stalled/real)
	if most := share * speedup; stalled/real < 0.5*most || stalled/real > 1.2*most {
		t.Errorf("stalls were a delay of %.3f of the time, not %.3f", stalled/real, most)
	}
}

// keepCore keeps a core for a while, so often a second, until it is asked for how much of the time that was.
func keepCore(t *testing.T, core int, length time.Duration, perSecond uint64) (kept func() float64) {
	t.Helper()
	object, err := realkernel.Built(t.TempDir(), "hostkeeps.o", "testdata/hostkeeps.bpf.c", "clang", "-O2", "-g",
		"-target", "bpf", "-c", "-o", "hostkeeps.o", "testdata/hostkeeps.bpf.c")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := ebpf.LoadCollectionSpec(object)
	if err != nil {
		t.Fatal(err)
	}
	const period = time.Millisecond
	for name, value := range map[string]uint64{
		"length": uint64(length), "one_in": uint64(time.Second/period) / perSecond,
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			t.Fatal(err)
		}
	}
	kernel, err := ebpf.NewCollection(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kernel.Close)
	timer, err := unix.PerfEventOpen(&unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Sample: uint64(period),
		Config: unix.PERF_COUNT_SW_CPU_CLOCK}, -1, core, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	end := func() { unix.Close(timer) }
	t.Cleanup(func() { end() })
	if err := unix.IoctlSetInt(timer, unix.PERF_EVENT_IOC_SET_BPF, kernel.Programs["keep"].FD()); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetInt(timer, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	return func() float64 {
		took := time.Since(begin)
		end()
		end = func() {}
		var ns uint64
		if err := kernel.Variables["kept"].Get(&ns); err != nil {
			t.Fatal(err)
		}
		return float64(ns) / float64(took)
	}
}
