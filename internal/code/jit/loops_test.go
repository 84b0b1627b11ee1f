package jit

import (
	"encoding/binary"
	"slices"
	"testing"
)

// looping is work, with score inlined at bytecode 3 of line 30, and valueOf at bytecode 7 of another line: what is told
// of its code up to offset 18.
func looping(line int, places sent) []sent {
	n := 0
	for at := 0; at < len(places); n++ {
		at += 6 + 4*int(binary.LittleEndian.Uint16(places[at+4:]))
	}
	return []sent{
		send('V').u32(2),
		send('M').u64(0x10).texts("LToy;", "work", "(I)V", "Toy.java").u16(0, 30, 7, line, 20, 32),
		send('M').u64(0x20).texts("LToy;", "score", "(I)J", "Toy.java").u16(0, 16, 5, 17),
		send('M').u64(0x30).texts("Ljava/lang/Long;", "valueOf", "(J)Ljava/lang/Long;", "Long.java").u16(0, 900),
		send('C').u64(0x1000).u32(20).u64(0x10).u32(n).u16(3).u64(0x10, 0x20, 0x30),
		append(send('P').u64(0x1000).u16(n), places...),
	}
}

// upTo is a place up to and including an offset.
func upTo(offset int, frames ...int) sent {
	return sent{}.u32(offset).u16(len(frames) / 2).u16(frames...)
}

func all(places ...sent) (joined sent) {
	for _, p := range places {
		joined = append(joined, p...)
	}
	return joined
}

// Frames: a number of a method and a bytecode each.
var (
	inScore   = []int{1, 5, 0, 3}
	atCall    = []int{0, 7}
	inValueOf = []int{2, 0, 0, 7}
	inWork    = []int{0, 20}
)

// code has a loop from offset 3 up to the jump at 10.
var code = []byte{0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0, 0x90, 0x75, 0xf7, 0x90, 0x48, 0xff, 0xc0, 0x90,
	0x90, 0xc3, 0xc3}

// mended are packets, and what they tell of code after MendLoops.
func mended(t *testing.T, code []byte, packets []sent) *Table {
	t.Helper()
	_, table := told(t, packets...)
	before := table.budget.Left
	read := func(address uint64, to []byte) int {
		if address != 0x1000 {
			t.Errorf("code at %#x was read", address)
		}
		return copy(to, code)
	}
	table.Find(0x1000).MendLoops(read)
	paid := table.Find(0x1000).paid
	if table.cut(0, 1<<40); table.budget.Left != before+paid {
		t.Errorf("a body has taken %d, and gives back %d", paid, table.budget.Left-before)
	}
	_, table = told(t, packets...)
	table.Find(0x1000).MendLoops(read)
	return table
}

// TestMendLoops: a loop of an inlined method is that method's, whatever call of its caller HotSpot has noted for it.
func TestMendLoops(t *testing.T) {
	straight := append([]byte(nil), code...)
	straight[10], straight[11] = 0x90, 0x90
	noted := all(upTo(2, 0, 0), upTo(5, inScore...), upTo(9, atCall...), upTo(12, inScore...),
		upTo(15, inValueOf...), upTo(18, inWork...))
	// All of the loop is noted for the call, and the code before it for score.
	whole := all(upTo(1, 0, 0), upTo(2, inScore...), upTo(12, atCall...), upTo(14, inScore...),
		upTo(15, inValueOf...), upTo(18, inWork...))
	for _, c := range []struct {
		name   string
		line   int
		code   []byte
		places sent
		want   string // at offset 7
	}{
		{"a call in another line", 31, code, noted, "score:17 work:30"},
		{"a call in the same line", 30, code, noted, "score:17 work:30"},
		{"all of the loop", 31, code, whole, "score:17 work:30"},
		{"no loop", 31, straight, noted, "work:31"},
		{"no loop at all", 31, straight, whole, "work:31"},
		{"code that cannot be read", 31, nil, noted, "work:31"},
	} {
		table := mended(t, c.code, looping(c.line, c.places))
		for offset, want := range map[uint64]string{0: "work:30", 2: "", 7: c.want, 9: c.want, 14: "", 16: "work:32"} {
			if got := chain(table, 0x1000+offset); want != "" && got != want {
				t.Errorf("%s, offset %d: %q, want %q", c.name, offset, got, want)
			}
		}
	}
}

// TestLoopOfBytecodes: code that is noted for what is in no loop of bytecodes is in the loop's method, and so is what
// is noted all over the code, if it is in another loop.
func TestLoopOfBytecodes(t *testing.T) {
	straight, loop := sent{0, 0xb1}, append(make(sent, 30), 0xa7, 0xff, 0xe2, 0xb1) // no-ops, and a jump back from 30 to 0
	with := func(work, score, valueOf sent, places sent) []sent {
		packets := looping(31, places)
		told := func(id int, code sent) sent { return append(send('B').u64(id), code...) }
		return slices.Concat(packets[:2], []sent{told(0x10, work)}, packets[2:3], []sent{told(0x20, score)},
			packets[3:4], []sent{told(0x30, valueOf)}, packets[4:])
	}
	notCall := all(upTo(2, 0, 0), upTo(5, inScore...), upTo(9, atCall...), upTo(12, inScore...), upTo(18, inWork...))
	// valueOf is noted at five places, and score at one.
	allOver := all(upTo(0, inValueOf...), upTo(2, 0, 0), upTo(5, inScore...), upTo(12, inValueOf...), upTo(13, inWork...),
		upTo(14, inValueOf...), upTo(15, inWork...), upTo(16, inValueOf...), upTo(17, inWork...), upTo(18, inValueOf...))
	for _, c := range []struct {
		name    string
		packets []sent
		want    string
	}{
		{"no loop", with(straight, loop, straight, notCall), "score:17 work:30"},
		{"a loop of its own", with(loop, loop, straight, notCall), "work:31"},
		{"no loop at all", with(straight, straight, straight, notCall), "work:31"},
		{"all over the code", with(straight, loop, loop, allOver), "score:17 work:30"},
		{"all over the code, in a loop around it", with(loop, loop, loop, allOver), "valueOf:900 work:31"},
	} {
		if got := chain(mended(t, code, c.packets), 0x1007); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A loop around calls stays what it was.
func TestLoopAroundCalls(t *testing.T) {
	begin, end := upTo(2, 0, 0), all(upTo(15, inValueOf...), upTo(18, inWork...))
	for name, places := range map[string]sent{
		"two places outside":  all(begin, upTo(5, inWork...), upTo(9, atCall...), upTo(12, inScore...), end),
		"the jump is outside": all(begin, upTo(5, inScore...), upTo(9, atCall...), upTo(12, inWork...), end),
		"the other call, too": all(begin, upTo(5, inValueOf...), upTo(9, atCall...), upTo(12, inScore...), end),
		"a call of its own": all(begin, upTo(5, inScore...), upTo(9, atCall...), upTo(12, inScore...),
			upTo(15, inWork...), upTo(18, inWork...)),
		"all of it, but no call": all(begin, upTo(3, atCall...), upTo(12, atCall...), upTo(13, inScore...),
			upTo(15, inWork...), upTo(18, inWork...)),
	} {
		if got := chain(mended(t, code, looping(31, places)), 0x1007); got != "work:31" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
