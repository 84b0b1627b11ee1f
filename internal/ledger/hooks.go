package ledger

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"whatif/bpf"
)

// MaxCalls is above the numbers of all system calls that can be counted.
const MaxCalls = int(bpf.LedgerLimitMAX_CALLS)

// CountCalls counts a visit of the point at each system call of that number that a
// thread of the target makes, when it begins or when it is over.
func (l *Ledger) CountCalls(point, number int, over bool) error {
	if number < 0 || number >= MaxCalls {
		return fmt.Errorf("counting system call %d: there are %d", number, MaxCalls)
	}
	which, name := 0, "on_call_begin"
	if over {
		which, name = 1, "on_call_over"
	}
	if !l.callsHooked[which] {
		// Every system call of the machine pays for it.
		k, err := l.programs.attach(name)
		if err != nil {
			return err
		}
		l.links.add(k)
		l.callsHooked[which] = true
	}
	l.page.calls[which][number] |= 1 << point
	return nil
}

// CountTracepoint counts a visit of the point whenever a thread of the target passes a
// tracepoint of the kernel. The error wraps os.ErrNotExist where there is none of that name.
func (l *Ledger) CountTracepoint(point int, name string) error {
	p, err := l.loadHook(point)
	if err != nil {
		return fmt.Errorf("counting at tracepoint %s: %w", name, err)
	}
	defer p.Close() // the link keeps it
	k, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p})
	if err != nil {
		return fmt.Errorf("attaching to tracepoint %s: %w", name, err)
	}
	l.links.add(k)
	return nil
}

// loadHook loads another on_tracepoint. Each point has its own: the kernel does not run a
// program that it has interrupted on the same core.
func (l *Ledger) loadHook(point int) (*ebpf.Program, error) {
	if err := setVariable(l.programs.spec, "hooked_point", uint32(point)); err != nil {
		return nil, err
	}
	return l.programs.load("on_tracepoint")
}

// CountExits counts a visit of the point whenever a process of the target ends.
func (l *Ledger) CountExits(point int) { l.page.control.Exits |= 1 << point }
