package ledger

import (
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// maxCalls is above the numbers of all system calls that can be counted.
const maxCalls = int(bpf.LedgerLimitMAX_CALLS)

// CountCalls counts a visit of the point at each system call of this number by a thread of the target: at the call's
// begin or, with over, at its end.
func (p *probes) CountCalls(point, number int, over bool) error {
	if number < 0 || number >= maxCalls {
		return fmt.Errorf("counting system call %d: there are %d", number, maxCalls)
	}
	which, name := 0, "on_call_begin"
	if over {
		which, name = 1, "on_call_over"
	}
	if !p.callsHooked[which] { // as it costs every system call of the machine
		if err := p.attach(name); err != nil {
			return err
		}
		p.callsHooked[which] = true
	}
	p.page.calls[which][number] |= 1 << point
	return nil
}

// CountTracepoint counts a visit of the point whenever a thread of the target passes a tracepoint of the kernel. The
// error wraps os.ErrNotExist if there is no tracepoint of that name.
func (p *probes) CountTracepoint(point int, name string) error {
	program, err := p.loadTracepoint(point)
	if err != nil {
		return fmt.Errorf("counting at tracepoint %s: %w", name, err)
	}
	defer program.Close() // the link keeps it
	k, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: program})
	if err != nil {
		return fmt.Errorf("attaching to tracepoint %s: %w", name, err)
	}
	p.links.add(k)
	return nil
}

// loadTracepoint loads another on_tracepoint. Each point has its own, because the kernel does not run a program that it
// has interrupted on the same core.
func (p *probes) loadTracepoint(point int) (*ebpf.Program, error) {
	if err := setVariable(p.programs.spec, "hooked_point", uint32(point)); err != nil {
		return nil, err
	}
	return p.programs.load("on_tracepoint")
}

// CountExits counts a visit of the point whenever a process of the target ends.
func (p *probes) CountExits(point int) { p.page.control.Exits |= 1 << point }

// MeasureHooks finds out what a visit by a system call or a tracepoint costs, as MeasureProbes does for probes. It is
// called after MeasureVisit, and before anything is counted.
func (p *probes) MeasureHooks() error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	doing := "measuring what a system call's or a tracepoint's visit costs"
	bare := timeBatches(callKernel)
	// A system call outside the target goes the same way, up to the visit.
	p.page.calls[0][unix.SYS_GETPPID] = 1
	defer func() { p.page.calls[0][unix.SYS_GETPPID] = 0 }()
	calls, err := p.programs.attach("on_call_begin")
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer calls.Close()
	called := timeBatches(callKernel)
	// A second program at the same place costs what one does at any tracepoint.
	hook, err := p.loadTracepoint(0)
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
	store(&p.page.control.HookCost[0], uint64(max(called-bare, 0)+p.visitCost))
	store(&p.page.control.HookCost[1], uint64(max(passed-called, 0)+p.visitCost))
	return nil
}

// callKernel makes n short system calls.
func callKernel(n int) {
	for range n {
		unix.RawSyscallNoError(unix.SYS_GETPPID, 0, 0, 0)
	}
}
