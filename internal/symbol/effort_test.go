package symbol

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
	"time"

	"whatif/internal/flow"
	"whatif/internal/symbol/dwarf"
)

// A line whose code is in thousands of pieces, each of which might be a copy of each other, is not
// looked at without end.
func TestEffort(t *testing.T) {
	const pieces, size = 3000, 64
	code := []byte{0xff, 0xe0} // jmp *rax: to any of the pieces
	var starts []dwarf.Start
	for range pieces {
		at := uint64(len(code))
		code = append(code, bytes.Repeat([]byte{0x50}, size-1)...)
		code = append(code, 0xc3)
		// The first is come to first; the second, which is longer, behind it.
		starts = append(starts, dwarf.Start{Addr: at, End: at + size/2, Column: 1, Run: true}, dwarf.Start{Addr: at + size/2 + 1, End: at + size, Column: 1, Run: true})
	}
	g := flow.New(0, []flow.Code{{Addr: 0, Bytes: code}}, addresses(starts))
	left := effort(maxEffort)
	if chosen := choose(g, starts, false, &left); len(chosen) != 1 || chosen[0] != starts[0] || left >= 0 {
		t.Errorf("%d chosen, %d left", len(chosen), left)
	}
}

// So are symbols of one address with long names that hardly differ.
func TestLongNames(t *testing.T) {
	const n = 20_000
	table := &symbols{strings: append(bytes.Repeat([]byte{'a'}, maxSymbol+n), 0)}
	for i := range uint32(n) {
		table.all = append(table.all, sym{name: i * 7919 % n, size: 1, kind: elf.STT_FUNC})
	}
	began := time.Now()
	slices.SortFunc(table.all, table.compareNames)
	if d := time.Since(began); d > slowest {
		t.Errorf("took %v", d)
	}
}
