package ledger

import (
	"fmt"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// MeasureHooks finds out what a visit costs that a system call or a tracepoint makes, as
// MeasureProbes does for probes; after MeasureVisit, and before anything is counted.
func (l *Ledger) MeasureHooks() error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	doing := "measuring what a system call's or a tracepoint's visit costs"
	bare := timeBatches(callKernel)
	// The system call of one outside the target goes the same way, up to the visit.
	l.page.calls[0][unix.SYS_GETPPID] = 1
	defer func() { l.page.calls[0][unix.SYS_GETPPID] = 0 }()
	calls, err := l.programs.attach("on_call_begin")
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer calls.Close()
	called := timeBatches(callKernel)
	// A second program at the place costs what one does at any tracepoint.
	hook, err := l.loadHook(0)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer hook.Close()
	passage, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: hook})
	if err != nil {
		return fmt.Errorf("%s: attaching %s: %w", doing, hook, err)
	}
	defer passage.Close()
	passed := timeBatches(callKernel)
	store(&l.page.control.HookCost[0], uint64(max(called-bare, 0)+l.visit))
	store(&l.page.control.HookCost[1], uint64(max(passed-called, 0)+l.visit))
	return nil
}

// MeasureVisit finds out how long it takes to count a visit during an experiment, apart from the
// way to where that is done: MeasureHooks and MeasureProbes find out that, in this process, whose visits
// are not counted. It has to come before anything is counted, as it is an experiment itself.
func (l *Ledger) MeasureVisit() error {
	l.Begin(Experiment{Length: time.Second})
	defer func() {
		l.End(0)
		store(&l.page.visits[0], 0)
	}()
	program, err := l.programs.get("measure_visits")
	if err != nil {
		return err
	}
	ns, err := program.Run(&ebpf.RunOptions{})
	if err != nil {
		return fmt.Errorf("measuring what counting a visit costs: %w", err)
	}
	l.visit = time.Duration(ns)
	return nil
}

// callKernel makes n short system calls.
func callKernel(n int) {
	for range n {
		unix.RawSyscallNoError(unix.SYS_GETPPID, 0, 0, 0)
	}
}
