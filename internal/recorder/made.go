package recorder

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"whatif/internal/code/symbol"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
)

// Made knows the code that processes of the target make while they run, or interpret. Its places are as those of the
// ledger: see [ledger.Event.Generated] and [ledger.Event.Bytecode].
type Made interface {
	// Met is called when a stack leads to such code for the first time. Stacks end there until [Recorder.SetRule] says how
	// the caller is found. For a bytecode, address is that of its method.
	Met(process int, at ledger.Place, address uint64) error
	// Frames are the frames at a place, the innermost first, and where the code comes from. There are none if that is not
	// known.
	Frames(at ledger.Place) (origin symbol.Origin, program string, frames []symbol.Frame)
}

// SetRule says how the caller is found at a place in code that a process has made.
func (r *Recorder) SetRule(at ledger.Place, rule unwind.Rule) error {
	return r.kernel.setRule(at, rule)
}

func (k *kernelSide) setRule(at ledger.Place, rule unwind.Rule) error {
	t, full := k.tables.Put([]ledger.Row{{Rule: rule}})
	if err := k.Maps["tables"].Put(at, t); err != nil {
		return fmt.Errorf("telling the kernel how a caller is found: %w", err)
	}
	return full
}

// ForgetTable has the caller at a place found by the frame pointer.
func (r *Recorder) ForgetTable(at ledger.Place) error {
	return r.SetRule(at, unwind.Rule{Kind: unwind.FramePointer})
}

// ForgetPlace does nothing: the unit of a place matters at the end only.
func (r *Recorder) ForgetPlace(ledger.Place) error { return nil }

// ForgetAddress makes the kernel side look at a place again. Otherwise what it knows of an address holds for up to a
// second.
func (r *Recorder) ForgetAddress(at ledger.Place) error {
	key := struct{ Space, Address uint64 }{at.Inode, at.Offset}
	if err := r.kernel.Maps["known_addresses"].Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting the code at an address: %w", err)
	}
	return nil
}
