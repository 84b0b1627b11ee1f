package symbol

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"whatif/internal/code/spinwait"
)

// SpinWaits reports whether the instruction at an offset in the file is in a busy-wait loop, or in a
// function that only waits: see package spinwait. Loops are known for x86-64 only, and only if the
// begin of the function is known.
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
	if x, found := table.find(addr); found && spinwait.IsPoller(table.name(x)) {
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
		inside := func(s spinwait.Span) bool { return s.Low <= addr && addr < s.High }
		return slices.ContainsFunc(b.waitsIn(start, end), inside), nil
	}
	line := uint64(0)
	if b.debug != nil && addr-start > farAhead { // debug information is not read for this alone
		line, _ = b.debug.RowBefore(addr - spinwait.Margin)
	}
	return spinwait.SpinWait(b.bytesAt(start, end-start), start, line, addr, b.yields), nil
}

// maxFunctions bounds the functions for which waits are kept.
const maxFunctions = 1 << 16

// waitsIn returns the parts of a function that are in busy-wait loops.
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

// farAhead is the distance from the function's begin from which a look-up of lines costs less than
// decoding all code in between.
const farAhead = 2 * spinwait.Margin

// around returns the function around an address. If the end is not known, it is MaxUint64.
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
	if table, err := b.unwindTable(); err == nil { // all that a stripped library has
		return table.Function(addr)
	}
	return 0, 0, false
}
