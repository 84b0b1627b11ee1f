package symbol

import (
	"debug/elf"
	"fmt"
	"slices"

	"whatif/internal/spinwait"
)

// pollers are functions that are waiting by what they are for, and nothing in their code tells that from work: Open MPI's that asks
// one part of the library after the other whether something has come, and those with which loops that wait make room for others.
var pollers = []string{"opal_progress", "sched_yield", "__sched_yield", "runtime.osyield", "runtime.osyield.abi0", "runtime.procyield", "runtime.procyield.abi0"}

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
	if !b.mayLoop(addr) {
		return false, nil
	}
	line := uint64(0)
	if b.debug != nil && addr-start > farAhead { // for this alone it need not be read
		line, _ = b.debug.RowBefore(addr - spinwait.Before)
	}
	return spinwait.SpinWait(b.bytesAt(start, end-start), start, line, addr), nil
}

// maxSpanned bounds the functions whose loops are remembered.
const maxSpanned = 1 << 16

// mayLoop reports whether an instruction is between a jump back and where that leads; true
// also if the function's end is not known.
func (b *Binary) mayLoop(addr uint64) bool {
	x, found := b.symbolTable().find(addr)
	if !found || x.size == 0 || x.size > spinwait.MaxFunction {
		return true
	}
	spans, known := b.spans[x.addr]
	if !known {
		if b.spans == nil || len(b.spans) >= maxSpanned {
			b.spans = map[uint64][]spinwait.Span{}
		}
		spans = spinwait.Spans(b.bytesAt(x.addr, x.size), x.addr)
		b.spans[x.addr] = spans
	}
	return slices.ContainsFunc(spans, func(s spinwait.Span) bool { return s.Low <= addr && addr < s.High })
}

// farAhead is how far behind its function's start an instruction has to be for a look at
// the lines to cost less than decoding all that is in between.
const farAhead = 2 * spinwait.Before

// around gives a stretch of code around an address that begins with the function.
func (b *Binary) around(addr uint64) (start, end uint64, ok bool) {
	end = addr + spinwait.After
	if x, found := b.symbolTable().find(addr); found {
		start, ok = x.addr, true
		if x.size > 0 {
			end = min(end, x.addr+x.size)
		}
	} else if f, found := b.aroundGo(addr); found {
		start, end, ok = f.Entry, min(end, f.End), true
	} else if chain := b.debugData().Lookup(addr); len(chain) > 0 && chain[len(chain)-1].Low != 0 {
		start, ok = chain[len(chain)-1].Low, chain[len(chain)-1].Low <= addr
	}
	return start, end, ok
}
