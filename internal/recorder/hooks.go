package recorder

import (
	"fmt"

	"github.com/cilium/ebpf/link"

	"whatif/bpf"
	"whatif/internal/recording"
)

// Hook is a progress point that is no place in the program: a system call, or the end of a process.
type Hook struct {
	Point uint32 // in the recording
	Role  recording.Role
	Exit  bool // a process ends
	Call  int  // otherwise: the number of the system call
	Over  bool // that ends, instead of begins
}

const (
	mostHooks = int(bpf.LedgerLimitMAX_POINTS)
	mostCalls = int(bpf.LedgerLimitMAX_CALLS)
)

// Hook has the visits of a point recorded.
func (r *Recorder) Hook(h Hook) error {
	r.probing.Lock()
	defer r.probing.Unlock()
	k := r.kernel
	if k.hooks == mostHooks {
		return fmt.Errorf("recording more than %d system calls and ends of processes", mostHooks)
	}
	bit := uint32(1) << k.hooks
	k.control.Hooks[k.hooks] = h.Point | uint32(h.Role)<<16
	k.hooks++
	if h.Exit {
		k.control.Exits |= bit
		return nil
	}
	if h.Call < 0 || h.Call >= mostCalls {
		return fmt.Errorf("recording system call %d: there are %d", h.Call, mostCalls)
	}
	which, name := 0, callBegins
	if h.Over {
		which, name = 1, callIsOver
	}
	k.calls[which][h.Call] |= bit
	if k.callsHooked[which] { // as it costs every system call of the machine
		return nil
	}
	attached, err := link.AttachTracing(link.TracingOptions{Program: k.Programs[name]})
	if err != nil {
		return fmt.Errorf("attaching %s: %w", name, err)
	}
	k.links = append(k.links, attached)
	k.callsHooked[which] = true
	return nil
}

// Programs of the kernel side (bpf/record/calls.h).
const (
	callBegins = "record_call_begin"
	callIsOver = "record_call_over"
)
