package symbol

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"whatif/internal/spinwait"
)

// yielders make room for others and do nothing else.
var yielders = []string{"sched_yield", "__sched_yield", "thrd_yield", "pthread_yield"}

// pollers are functions that are waiting by what they are for, and nothing in their code tells that from work: Open MPI's that asks
// one part of the library after the other whether something has come, and those with which loops that wait make room for others.
var pollers = slices.Concat(yielders, []string{"opal_progress", "runtime.osyield", "runtime.osyield.abi0", "runtime.procyield", "runtime.procyield.abi0"})

// SpinWaits reports whether the instruction at an offset in the file lies in a
// busy-wait loop, see package spinwait, or in a function of pollers. False for loops of processors other
// than x86-64, and where nothing says at which address the function begins.
func (b *Binary) SpinWaits(fileOffset uint64) (spins bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for a busy-wait loop at %s+%#x", b.path, fileOffset)
	if b.closed {
		return false, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	addr, ok := b.address(fileOffset)
	if !ok {
		return false, nil
	}
	table := b.symbolTable()
	if x, found := table.find(addr); found && slices.Contains(pollers, table.name(x)) {
		return true, nil
	}
	if b.elf.Machine != elf.EM_X86_64 {
		return false, nil
	}
	start, end, ok := b.around(addr)
	if !ok {
		return false, nil
	}
	if end-start <= spinwait.MaxFunction {
		return slices.ContainsFunc(b.waitsIn(start, end), func(s spinwait.Span) bool { return s.Low <= addr && addr < s.High }), nil
	}
	line := uint64(0)
	if b.debug != nil && addr-start > farAhead { // for this alone it need not be read
		line, _ = b.debug.RowBefore(addr - spinwait.Before)
	}
	return spinwait.SpinWait(b.bytesAt(start, end-start), start, line, addr, b.yields), nil
}

// maxFunctions bounds the functions of which it is remembered where they wait.
const maxFunctions = 1 << 16

// waitsIn gives where a function waits busily.
func (b *Binary) waitsIn(start, end uint64) []spinwait.Span {
	waits, known := b.waits[start]
	if !known {
		if b.waits == nil || len(b.waits) >= maxFunctions {
			b.waits = map[uint64][]spinwait.Span{}
		}
		waits = spinwait.Waits(b.bytesAt(start, end-start), start, b.yields)
		b.waits[start] = waits
	}
	return waits
}

// farAhead is how far behind its function's start an instruction has to be for a look at
// the lines to cost less than decoding all that is in between.
const farAhead = 2 * spinwait.Before

// around gives the function around an address; where only its beginning is known, it ends
// at the end of all code.
func (b *Binary) around(addr uint64) (start, end uint64, ok bool) {
	if x, found := b.symbolTable().find(addr); found {
		if x.size == 0 {
			return x.addr, math.MaxUint64, true
		}
		return x.addr, x.addr + x.size, true
	}
	if f, found := b.aroundGo(addr); found {
		return f.Entry, f.End, true
	}
	if chain := b.debugData().Lookup(addr); len(chain) > 0 && chain[len(chain)-1].Low != 0 {
		low := chain[len(chain)-1].Low
		return low, math.MaxUint64, low <= addr
	}
	return 0, 0, false
}
