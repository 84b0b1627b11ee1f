package jit

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/symbol"
)

// sent makes packets as the agent does.
type sent []byte

func send(kind byte) sent { return sent{kind} }

func (s sent) u8(n byte) sent { return append(s, n) }
func (s sent) u16(n ...int) sent {
	for _, n := range n {
		s = binary.LittleEndian.AppendUint16(s, uint16(n))
	}
	return s
}
func (s sent) u32(n int) sent { return binary.LittleEndian.AppendUint32(s, uint32(n)) }
func (s sent) u64(n ...int) sent {
	for _, n := range n {
		s = binary.LittleEndian.AppendUint64(s, uint64(n))
	}
	return s
}
func (s sent) texts(texts ...string) sent {
	for _, t := range texts {
		s = append(s.u16(len(t)), t...)
	}
	return s
}

// toy are packets about longWork at 0x1000, into which mix and a library's method are inlined.
var toy = []sent{
	send('V').u32(2),
	send('M').u64(0x10).texts("Lcom/shop/Toy;", "longWork", "(I[Ljava/lang/String;)J", "Toy.java").u16(0, 20, 8, 21),
	send('M').u64(0x20).texts("Lcom/shop/Toy;", "mix", "(J)J", "Toy.java").u16(9, 14, 0, 13),
	send('N').u64(0x20).u16(18, 15),
	send('M').u64(0x30).texts("Ljava/lang/Math;", "abs", "(J)J", "Math.java").u16(0, 700),
	send('C').u64(0x1000).u32(0x100).u64(0x10).u32(5).u16(3).u64(0x10, 0x20, 0x30),
	send('P').u64(0x1000).u16(3).u32(0x10).u16(1, 0, 0xffff).u32(0x20).u16(2, 1, 4, 0, 9).u32(0x28).u16(2, 1, 18, 0, 9),
	send('P').u64(0x1000).u16(2).u32(0x30).u16(3, 2, 1, 1, 18, 0, 9).u32(0x38).u16(1, 0, 100),
	send('D').u64(0x2000).u32(0x40).texts("jlong_disjoint_arraycopy"),
}

func told(t *testing.T, packets ...sent) (*HotSpot, *Table) {
	t.Helper()
	table := NewTable(&Budget{Left: DefaultBudget})
	h := NewHotSpot(table)
	for i, p := range packets {
		if _, err := h.Take(p); err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
	}
	return h, table
}

// chain is the code at an address, as "mix:14 longWork:21".
func chain(table *Table, address uint64) string {
	b := table.Find(address)
	if b == nil {
		return ""
	}
	var words []string
	for _, f := range b.Frames(address) {
		words = append(words, fmt.Sprintf("%s:%d", f.Short[strings.LastIndexByte(f.Short, '.')+1:], f.Line))
	}
	return strings.Join(words, " ")
}

// TestHotSpot: a place describes the code up to its offset, from the place before on.
func TestHotSpot(t *testing.T) {
	h, table := told(t, toy...)
	for address, want := range map[uint64]string{
		0xfff: "", 0x1000: "longWork:20", 0x1010: "longWork:20",
		0x1011: "mix:13 longWork:21", 0x1020: "mix:13 longWork:21", 0x1021: "mix:15 longWork:21",
		0x1029: "abs:700 mix:15 longWork:21", 0x1031: "longWork:21", 0x1038: "longWork:21",
		0x1039: "longWork:0", 0x10ff: "longWork:0", 0x1100: "", 0x2000: "jlong_disjoint_arraycopy:0",
	} {
		if got := chain(table, address); got != want {
			t.Errorf("%#x: %q, want %q", address, got, want)
		}
	}
	frames := table.Find(0x1030).Frames(0x1030)
	want := []symbol.Frame{
		{Func: "java.lang.Math.abs(long)", Short: "java.lang.Math.abs", File: "java/lang/Math.java", Line: 700},
		{Func: "com.shop.Toy.mix(long)", Short: "com.shop.Toy.mix", File: "com/shop/Toy.java", Line: 15},
		{Func: "com.shop.Toy.longWork(int, java.lang.String[])", Short: "com.shop.Toy.longWork",
			File: "com/shop/Toy.java", Line: 21},
	}
	if !slices.Equal(frames, want) {
		t.Errorf("%+v", frames)
	}
	origin := table.Find(0x1030).Origin("/usr/bin/java")
	if i := symbol.FirstInScope(frames, origin.InScope); i != 1 {
		t.Errorf("frame %d is in scope first", i)
	}
	if why := table.Find(0x2000).Origin("/usr/bin/java").WhyOutside(symbol.Frame{}); why != hotSpotOutside {
		t.Errorf("a stub is %q", why)
	}
	heard, err := h.Take(send('U').u64(0x1000))
	if err != nil || !heard.Changed || table.Find(0x1020) != nil {
		t.Errorf("unloaded: %+v, %v", heard, err)
	}
	if heard, err := h.Take(send('U').u64(0x2001)); err != nil || heard.Changed || table.Find(0x2000) == nil {
		t.Errorf("code that begins elsewhere is unloaded: %+v, %v", heard, err)
	}
}

// TestHotSpotReplaced: new code at the same place counts when all of it was told, and methods that were redefined have
// their new lines.
func TestHotSpotReplaced(t *testing.T) {
	h, table := told(t, toy...)
	take := func(p sent) (heard Heard) {
		heard, err := h.Take(p)
		if err != nil {
			t.Fatal(err)
		}
		return heard
	}
	take(send('M').u64(0x20).texts("Lcom/shop/Toy;", "mix", "(J)J", "Toy.java").u16(0, 99))
	if got := chain(table, 0x1011); got != "mix:13 longWork:21" {
		t.Errorf("old code: %q", got)
	}
	take(send('C').u64(0x1010).u32(0x20).u64(0x20).u32(1).u16(1).u64(0x20))
	if got := chain(table, 0x1011); got != "mix:13 longWork:21" {
		t.Errorf("code that is not told yet: %q", got)
	}
	if heard := take(send('P').u64(0x1010).u16(1).u32(0x1f).u16(1, 0, 3)); !heard.Changed {
		t.Error("nothing has changed")
	}
	if got := chain(table, 0x1011); got != "mix:99" {
		t.Errorf("new code: %q", got)
	}
	if got := chain(table, 0x1000) + chain(table, 0x1031); got != "longWork:20longWork:21" {
		t.Errorf("what is left of the old code: %q", got)
	}
	if heard := take(send('X')); !heard.Lost {
		t.Error("a loss is not heard")
	}
	if heard := take(send('R').u8('F').u32(99)); heard.Done != 'F' || !heard.Failed {
		t.Errorf("%+v", heard)
	}
}

func TestHotSpotNames(t *testing.T) {
	for _, c := range [][6]string{
		{"LToy;", "<init>", "()V", "Toy.java", "Toy.<init>()", "Toy.java"},
		{"LToy$$Lambda$14.0x00007f2b8c001a00;", "run", "()V", "", "Toy$$Lambda.run()", ""},
		{"La/Toy$$Lambda.0x00007f2b8c001a00;", "run", "()V", "", "a.Toy$$Lambda.run()", ""},
		{"La/b/C$D;", "f", "([[IZLa/E;)V", "C.kt", "a.b.C$D.f(int[][], boolean, a.E)", "a/b/C.kt"},
		{"La/b/C;", "f", "([", "../../etc/passwd", "a.b.C.f()", ""},
		{"", "", "", "", ".()", ""},
	} {
		if f := ofMethod(c[0], c[1], c[2], c[3]); f.Full != c[4] || f.File != c[5] {
			t.Errorf("%q: %+v", c, f)
		}
	}
}

// TestHotSpotRefuses: what makes no sense ends the connection, or is left out.
func TestHotSpotRefuses(t *testing.T) {
	for _, p := range []sent{
		{}, send('Z'), send('V').u32(1), send('V'), send('M').u64(1).texts("LToy;"), send('U').u32(1),
		send('C').u64(0x1000).u32(0x100).u64(0x10).u32(5).u16(3), send('D').u64(1).u32(1).u16(40000),
		send('P').u64(0x3000).u16(2).u32(1).u16(1, 0, 0), send('P').u64(0x3000).u16(1).u32(1).u16(300),
	} {
		h, _ := told(t, append(slices.Clone(toy), send('C').u64(0x3000).u32(0x100).u64(0x10).u32(9).u16(0))...)
		if _, err := h.Take(p); err == nil {
			t.Errorf("%q is taken", p)
		}
	}
	h, table := told(t, toy...)
	for _, p := range []sent{
		send('C').u64(0x4000).u32(0x100).u64(0x99).u32(0).u16(0),           // of a method that is not known
		send('C').u64(0x4000).u32(0).u64(0x10).u32(0).u16(0),               // empty
		send('C').u64(-0x4000).u32(0x100).u64(0x10).u32(0).u16(0),          // in the kernel
		send('C').u64(0x4000).u32(0x100).u64(0x10).u32(1 << 20).u16(0),     // with too many places
		send('P').u64(0x4000).u16(1).u32(1).u16(1, 0, 0),                   // places of no code
		send('N').u64(0x20).u16(1, 1), send('N').u64(0x77).u16(1, 1, 2, 2), // lines of no method
	} {
		if heard, err := h.Take(p); err != nil || heard.Changed {
			t.Errorf("%q: %+v, %v", p, heard, err)
		}
	}
	if table.Find(0x4000) != nil {
		t.Error("there is code")
	}
	for i := range 100 { // code whose places do not come
		if _, err := h.Take(send('C').u64(0x10000 * i).u32(0x100).u64(0x10).u32(1).u16(0)); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.codes) > mostCodes {
		t.Errorf("%d pieces of code are waited for", len(h.codes))
	}
}

// TestHotSpotBudget: a VM that names methods without end takes no more than its share, and gives it back.
func TestHotSpotBudget(t *testing.T) {
	budget := Budget{Left: 100_000}
	table := NewTable(&budget)
	h := NewHotSpot(table)
	for i := range 10_000 {
		if _, err := h.Take(send('M').u64(i).texts("LToy;", "f", "()V", "Toy.java").u16(0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if !table.Full() || budget.Left > 1000 || len(h.methods) > 500 {
		t.Errorf("%d methods, %d bytes are left", len(h.methods), budget.Left)
	}
	h.Close()
	table.Close()
	if budget.Left != 100_000 {
		t.Errorf("%d bytes were given back", budget.Left)
	}
}

// TestHotSpotUnfinished: places take memory as they come, also if the last one never does.
func TestHotSpotUnfinished(t *testing.T) {
	const left = 1 << 20
	budget := Budget{Left: left}
	table := NewTable(&budget)
	h := NewHotSpot(table)
	take := func(p sent) {
		t.Helper()
		if _, err := h.Take(p); err != nil {
			t.Fatal(err)
		}
	}
	method := send('M').u64(0x10).texts("LToy;", "f", "()V", "Toy.java")
	for i := range 5000 {
		method = method.u16(i, i)
	}
	take(method)
	for code := range mostCodes {
		start := 0x100000 * (code + 1)
		take(send('C').u64(start).u32(0x10000).u64(0x10).u32(mostPlaces).u16(1).u64(0x10))
		for i := range 100 {
			places := send('P').u64(start).u16(50)
			for k := range 50 {
				places = places.u32(50*i+k).u16(1, 0, 50*i+k)
			}
			take(places)
		}
	}
	sites := 0
	for _, c := range h.codes {
		sites += len(c.sites)
	}
	if !table.Full() || sites == 0 || sites > left/costOfSite {
		t.Errorf("%d sites wait for the last place", sites)
	}
	h.Close()
	table.Close()
	if budget.Left != left {
		t.Errorf("%d bytes were given back", budget.Left)
	}
}

// TestHotSpotTold: a method that is told again takes no more; one that gets other names does, as code may have the old.
func TestHotSpotTold(t *testing.T) {
	budget := Budget{Left: 100_000}
	table := NewTable(&budget)
	h := NewHotSpot(table)
	tell := func(name string) int64 {
		t.Helper()
		if _, err := h.Take(send('M').u64(0x10).texts("LToy;", name, "()V", "Toy.java").u16(0, 1, 2, 3)); err != nil {
			t.Fatal(err)
		}
		h.endMethod()
		return budget.Left
	}
	once := tell("f")
	if again := tell("f"); again != once {
		t.Errorf("told again: %d bytes are left, of %d", again, once)
	}
	if other := tell("g"); other > once-200 {
		t.Errorf("another name: %d bytes are left, of %d", other, once)
	}
	for range 1000 {
		tell("f")
		tell("g")
	}
	if !table.Full() {
		t.Error("there is no end of names")
	}
	h.Close()
	table.Close()
	if budget.Left != 100_000 {
		t.Errorf("%d bytes were given back", budget.Left)
	}
}

func FuzzHotSpot(f *testing.F) {
	var all sent
	for _, p := range toy {
		all = append(all.u16(len(p)), p...)
	}
	f.Add([]byte(all))
	f.Fuzz(func(t *testing.T, text []byte) {
		budget := Budget{Left: 1 << 20}
		table := NewTable(&budget)
		h := NewHotSpot(table)
		for len(text) >= 2 {
			n := min(int(binary.LittleEndian.Uint16(text)), len(text)-2)
			_, err := h.Take(text[2 : 2+n])
			text = text[2+n:]
			if err != nil {
				break
			}
		}
		for _, pieces := range table.chunks {
			for _, p := range pieces {
				for _, a := range []uint64{p.start, p.end - 1} {
					if frames := p.body.Frames(a); len(frames) == 0 || len(frames) > mostDepth {
						t.Fatalf("%d frames", len(frames))
					}
				}
			}
		}
		h.Close()
		table.Close()
		if budget.Left != 1<<20 {
			t.Fatalf("%d bytes are left of the budget", budget.Left)
		}
	})
}

// TestBytecodes: a method that is interpreted has lines by the addresses of its bytecodes, and the name that it has
// when it is compiled.
func TestBytecodes(t *testing.T) {
	table := NewTable(&Budget{Left: DefaultBudget})
	m := Bytecodes{Class: "com/shop/Cart", Name: "total", Signature: "(I)J", File: "Cart.java", Start: 0x7000, Size: 20,
		Lines: []BytecodeLine{{12, 9}, {0, 7}, {5, 8}}}
	if table.AddBytecodes(&m) || table.AddBytecodes(&m) {
		t.Error("nothing else was there")
	}
	for offset, line := range map[uint64]int{0: 7, 4: 7, 5: 8, 19: 9} {
		b := table.Find(m.Start + offset)
		if b == nil || b.HasFrame() && b.Begin() != m.Start {
			t.Fatalf("%+v", b)
		}
		want := symbol.Frame{Func: "com.shop.Cart.total(int)", Short: "com.shop.Cart.total", File: "com/shop/Cart.java",
			Line: line}
		if frames := b.Frames(m.Start + offset); len(frames) != 1 || frames[0] != want {
			t.Errorf("bytecode %d: %+v", offset, frames)
		}
	}
	next := Bytecodes{Class: "A", Name: "b", Start: 0x7000 + 20, Size: 8}
	if table.AddBytecodes(&next) {
		t.Error("what comes behind a method is not in its place")
	}
	m.Name = "sum" // another class is where it was
	if !table.AddBytecodes(&m) || table.Find(m.Start).Name != "com.shop.Cart.sum" || table.Find(m.Start+20).Name != "A.b" {
		t.Errorf("%+v", table.Find(m.Start))
	}
	between := Bytecodes{Class: "A", Name: "c", Start: m.Start - 100, Size: 101}
	if !table.AddBytecodes(&between) || table.AddBytecodes(&Bytecodes{Start: 1 << 50, Size: 1 << 40}) {
		t.Error("the beginning of a method was there, and nothing is where no code can be")
	}
}
