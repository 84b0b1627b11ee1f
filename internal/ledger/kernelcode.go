package ledger

// KernelCode says where the running kernel has the code that is no work of the thread that it interrupts or puts to
// sleep, and where functions begin.
type KernelCode struct {
	Entry Text // all ways into the kernel
	Sleep Text // the scheduler, and locks: code in which a thread sleeps, whatever it waits for
	// Functions are addresses, ascending. From each to the next, all code is one function's or no function's, so one
	// answer is right for it. With none, each address is asked about.
	Functions []uint64
}

// Text is the code from one address to another.
type Text struct{ Begin, End uint64 }

// OfKernel reports whether an event is about a place in the kernel, which is Address then.
func (e *Event) OfKernel() bool {
	return !e.Exec && !e.Table && !e.Mapped && !e.Named && e.Place.Inode == 0
}

// settings make the kernel programs follow the kernel's stacks.
func (k *KernelCode) settings() []setting {
	if k == nil {
		return nil
	}
	return []setting{
		{"kernel_code", uint32(1)},
		{"kernel_functions", uint32(len(k.Functions))},
		{"entry_begin", k.Entry.Begin}, {"entry_end", k.Entry.End},
		{"sleep_begin", k.Sleep.Begin}, {"sleep_end", k.Sleep.End},
	}
}
