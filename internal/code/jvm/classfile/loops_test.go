package classfile

import (
	"slices"
	"testing"
)

// TestLoopsOfBytecodes: jumps back make loops, also of switches and wide jumps, and what overlaps is one loop.
func TestLoopsOfBytecodes(t *testing.T) {
	back := func(offset int) []byte { return []byte{opGOTO, byte(offset >> 8), byte(offset)} }
	nop := []byte{opNOP}
	for _, c := range []struct {
		name string
		code [][]byte
		want []Range
	}{
		{"straight", [][]byte{nop, nop, {opRETURN}}, nil},
		{"forward", [][]byte{{opIFEQ, 0, 4}, nop, {opRETURN}}, nil},
		{"one", [][]byte{nop, nop, back(-1), {opRETURN}}, []Range{{1, 2}}},
		{"of one instruction", [][]byte{nop, back(0)}, []Range{{1, 1}}},
		{"two", [][]byte{nop, back(-1), nop, back(-1)}, []Range{{0, 1}, {4, 5}}},
		{"nested", [][]byte{nop, nop, back(-1), nop, back(-6)}, []Range{{0, 6}}},
		{"one around two", [][]byte{nop, back(-1), nop, back(-1), back(-8)}, []Range{{0, 8}}},
		{"wide", [][]byte{nop, {opGOTOW, 0xff, 0xff, 0xff, 0xff}}, []Range{{0, 1}}},
		{"a switch", [][]byte{nop, {opTABLESWITCH, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff}},
			[]Range{{0, 1}}},
		{"before the code", [][]byte{nop, back(-2)}, nil},
		{"cut", [][]byte{nop, back(-1), nop, {opGOTO, 0xff}}, []Range{{0, 1}}},
		{"no bytecode", [][]byte{nop, back(-1), {0xff}, back(-1)}, []Range{{0, 1}}},
		{"nothing", nil, nil},
	} {
		if got := Loops(slices.Concat(c.code...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzLoops(f *testing.F) {
	f.Add([]byte{opNOP, opGOTO, 0xff, 0xff, opTABLESWITCH, 0, 0, 0})
	// All of it leads back.
	f.Add([]byte{opTABLESWITCH, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		before := -1
		for _, r := range Loops(code) {
			if r.From <= before || r.To < r.From || r.To >= len(code) {
				t.Fatalf("%v in %d bytes, after %d", r, len(code), before)
			}
			before = r.To
		}
		if all := Loops(code); cap(all) != len(all) { // they are counted by their number
			t.Fatalf("%d loops take the room of %d", len(all), cap(all))
		}
	})
}
