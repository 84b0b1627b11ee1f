package ledger

import (
	"fmt"

	"github.com/cilium/ebpf"
)

// KernelCode says where in the running kernel the code is that the kernel side has to tell
// from what it interrupts and puts to sleep.
type KernelCode struct {
	Entry Text // all ways into the kernel
	Sleep Text // the scheduler, and locks: what a thread that sleeps is in, whatever it waits for
	// Functions are the addresses, ascending, from each of which to the next all code is one function's, or nobody's:
	// one answer does for it. None: each address is asked about.
	Functions []uint64
}

// Text is code from an address to another.
type Text struct{ Begin, End uint64 }

// OfKernel reports whether an event is about a place in the kernel: Address.
func (e *Event) OfKernel() bool {
	return !e.Exec && !e.Table && !e.Mapped && !e.Named && e.Place.Inode == 0
}

// sampleKernel makes the programs look at the kernel's stacks, or spares the memory for it.
func sampleKernel(spec *ebpf.CollectionSpec, k *KernelCode) error {
	if k == nil {
		spec.Maps["kernel_stacks"].MaxEntries = 1
		return nil
	}
	if err := setVariable(spec, "kernel_code", uint32(1)); err != nil {
		return err
	}
	if err := setVariable(spec, "kernel_functions", uint32(len(k.Functions))); err != nil {
		return err
	}
	spec.Maps["kernel_function"].MaxEntries = uint32(max(1, len(k.Functions)))
	for name, value := range map[string]uint64{
		"entry_begin": k.Entry.Begin, "entry_end": k.Entry.End, "sleep_begin": k.Sleep.Begin, "sleep_end": k.Sleep.End,
	} {
		if err := setVariable(spec, name, value); err != nil {
			return err
		}
	}
	return nil
}

// tellFunctions gives the kernel side the functions of the kernel.
func (l *Ledger) tellFunctions(k *KernelCode) error {
	if k == nil || len(k.Functions) == 0 {
		return nil
	}
	keys := make([]uint32, len(k.Functions))
	for i := range keys {
		keys[i] = uint32(i)
	}
	if _, err := l.maps.KernelFunction.BatchUpdate(keys, k.Functions, nil); err != nil {
		return fmt.Errorf("telling the kernel programs where the kernel's functions are: %w", err)
	}
	return nil
}
