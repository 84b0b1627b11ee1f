package jit

import "testing"

// looping is score, with a loop in line 17, inlined into work's line 30. Another call is in work's line of that number.
func looping(line int) []sent {
	return []sent{
		send('V').u32(1),
		send('M').u64(0x10).texts("LToy;", "work", "(I)V", "Toy.java").u16(0, 30, 7, line, 20, 32),
		send('M').u64(0x20).texts("LToy;", "score", "(I)J", "Toy.java").u16(0, 16, 5, 17),
		send('C').u64(0x1000).u32(20).u64(0x10).u32(5).u16(2).u64(0x10, 0x20),
		// Up to and including offset 2 it is work's line 30, then score's loop, which is noted for bytecode 7 of work, and
		// for score where it jumps back.
		send('P').u64(0x1000).u16(5).u32(2).u16(1, 0, 0).u32(5).u16(2, 1, 5, 0, 3).u32(9).u16(1, 0, 7).
			u32(12).u16(2, 1, 9, 0, 3).u32(18).u16(1, 0, 20),
	}
}

// code has a loop from offset 3 up to the jump at 10.
var code = []byte{0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0, 0x90, 0x75, 0xf7, 0x90, 0x48, 0xff, 0xc0, 0x90,
	0x90, 0xc3, 0xc3}

func mended(t *testing.T, code []byte, packets ...sent) *Table {
	t.Helper()
	_, table := told(t, packets...)
	before := table.budget.Left
	table.Find(0x1000).MendLoops(func(address uint64, to []byte) int {
		if address != 0x1000 {
			t.Errorf("code at %#x was read", address)
		}
		return copy(to, code)
	})
	table.cut(0, 1<<40)
	if table.budget.Left <= before {
		t.Errorf("a body takes %d before it is removed, and %d after", before, table.budget.Left)
	}
	_, table = told(t, packets...)
	table.Find(0x1000).MendLoops(func(_ uint64, to []byte) int { return copy(to, code) })
	return table
}

// TestMendLoops: a loop of an inlined method is that method's, whatever call of its caller HotSpot has noted for it.
func TestMendLoops(t *testing.T) {
	straight := append([]byte(nil), code...)
	straight[10], straight[11] = 0x90, 0x90
	for _, c := range []struct {
		name string
		line int
		code []byte
		want string // at offset 7
	}{
		{"a call in another line", 31, code, "score:17 work:30"},
		{"a call in the same line", 30, code, "score:17 work:30"},
		{"no loop", 31, straight, "work:31"},
		{"code that cannot be read", 31, nil, "work:31"},
	} {
		table := mended(t, c.code, looping(c.line)...)
		for offset, want := range map[uint64]string{0: "work:30", 3: "score:17 work:30", 7: c.want, 9: c.want,
			10: "score:17 work:30", 13: "work:32"} {
			if got := chain(table, 0x1000+offset); got != want {
				t.Errorf("%s, offset %d: %q, want %q", c.name, offset, got, want)
			}
		}
	}
}

// A loop around calls stays what it was: what is outside of the call has more than one place, or jumps back.
func TestLoopAroundCalls(t *testing.T) {
	places := looping(31)
	head := places[:4]
	for name, place := range map[string]sent{
		"two places outside": send('P').u64(0x1000).u16(5).u32(2).u16(1, 0, 0).u32(5).u16(1, 0, 20).u32(9).u16(1, 0, 7).
			u32(12).u16(2, 1, 9, 0, 3).u32(18).u16(1, 0, 20),
		"the jump is outside": send('P').u64(0x1000).u16(5).u32(2).u16(1, 0, 0).u32(5).u16(2, 1, 5, 0, 3).u32(9).u16(1, 0, 7).
			u32(12).u16(1, 0, 7).u32(18).u16(1, 0, 20),
	} {
		packets := append(append([]sent(nil), head...), place)
		if got := chain(mended(t, code, packets...), 0x1007); got != "work:31" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
