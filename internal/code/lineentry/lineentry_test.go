package lineentry

import (
	"bytes"
	"testing"

	"whatif/internal/code/flow"
	"whatif/internal/code/symbol/dwarf"
)

// TestEffort chooses among thousands of pieces, each of which may be a copy of each other: the effort is
// spent, and the lowest is chosen.
func TestEffort(t *testing.T) {
	const pieces, size = 3000, 64
	code := []byte{0xff, 0xe0} // jmp *rax: to any of the pieces
	var starts []dwarf.Start
	for range pieces {
		at := uint64(len(code))
		code = append(code, bytes.Repeat([]byte{0x50}, size-1)...)
		code = append(code, 0xc3)
		// The first is reached first; the second, which is longer, only behind it.
		starts = append(starts,
			dwarf.Start{Addr: at, End: at + size/2, Column: 1, AfterOther: true},
			dwarf.Start{Addr: at + size/2 + 1, End: at + size, Column: 1, AfterOther: true})
	}
	g := flow.New(0, []flow.Code{{Addr: 0, Bytes: code}}, addresses(starts))
	left := MaxEffort
	if chosen := choose(g, starts, false, &left); len(chosen) != 1 || chosen[0] != starts[0] || left >= 0 {
		t.Errorf("%d chosen, %d left", len(chosen), left)
	}
}
