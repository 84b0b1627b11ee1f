package flow

import (
	"slices"
	"testing"
)

// assembled has instructions, laid out from 0x1000 on.
type assembled struct {
	bytes []byte
	at    []uint64 // of each instruction
}

func assemble(insts ...[]byte) (a assembled) {
	for _, i := range insts {
		a.at = append(a.at, 0x1000+uint64(len(a.bytes)))
		a.bytes = append(a.bytes, i...)
	}
	return a
}

func (a assembled) graph() *Graph {
	return New(0x1000, []Code{{0x1000, a.bytes}}, a.at)
}

var (
	inc   = []byte{0x48, 0xff, 0xc0}             // inc rax
	test  = []byte{0x85, 0xc0}                   // test eax, eax
	ret   = []byte{0xc3}                         // ret
	ind   = []byte{0xff, 0xe0}                   // jmp rax
	nop5  = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00} // a filler
	calls = []byte{0xe8, 0x00, 0x01, 0x00, 0x00} // call somewhere else
	vadd  = []byte{0xc5, 0xf1, 0x58, 0xc2}       // vaddpd xmm0, xmm1, xmm2
)

func jmp(by int8) []byte { return []byte{0xeb, byte(by)} }
func jne(by int8) []byte { return []byte{0x75, byte(by)} }

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   assembled
		places []int // instructions, by their number
		want   []int
	}{
		// The second is a later piece of the same statement.
		{"straight", assemble(inc, test, inc, ret), []int{0, 2}, []int{0}},
		// Two branches: each reaches another of the places first.
		{"branches", assemble(test, jne(5), inc, jmp(3), inc, ret), []int{2, 4}, []int{2, 4}},
		{"joined", assemble(test, jne(3), inc, inc, ret), []int{2, 3}, []int{2, 3}},
		// A loop that is entered at its test, which lies behind its body.
		{"rotated", assemble(jmp(3), inc, test, jne(-7), ret), []int{1, 2}, []int{2}},
		// A lower address is not an earlier time.
		{"backwards", assemble(jmp(4), inc, ret, test, inc, jmp(-11)), []int{1, 4}, []int{4}},
		// A switch goes to code that nothing else leads to, but not to fillers.
		{"switch", assemble(ind, inc, ret, nop5, inc, ret), []int{1, 4}, []int{1}},
		{"landing pad", assemble(calls, ret, inc, ret), []int{2}, []int{2}},
		{"behind a landing pad", assemble(inc, ret, inc, ret), []int{0, 2}, []int{0}},
		{"vector instructions", assemble(vadd, test, jne(3), inc, inc, ret), []int{4}, []int{4}},
		{"nothing", assemble(), nil, nil},
	} {
		var places, want []uint64
		for _, i := range c.places {
			places = append(places, c.code.at[i])
		}
		for _, i := range c.want {
			want = append(want, c.code.at[i])
		}
		if got := c.code.graph().First(places); !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.name, got, want)
		}
	}
}

func TestLoopsBack(t *testing.T) {
	// 0 inc; 1 inc; 2 test; 3 jne 1; 4 ret
	c := assemble(inc, inc, test, jne(-7), ret)
	g := c.graph()
	if !g.LoopsBack(c.at[1], []uint64{c.at[0]}) {
		t.Error("the loop does not repeat")
	}
	if g.LoopsBack(c.at[1], []uint64{c.at[2]}) {
		t.Error("the loop repeats without its test")
	}
	if g.LoopsBack(c.at[0], nil) {
		t.Error("the code before the loop repeats")
	}
}

func TestStraightSize(t *testing.T) {
	// 0 jne 3; 1 inc; 2 inc; 3 inc (a target); 4 test; 5 call; 6 inc
	c := assemble(jne(6), inc, inc, inc, test, calls, inc)
	g := c.graph()
	for _, x := range []struct {
		from, end, want int
	}{
		{0, 6, 2}, // a jump, included
		{1, 6, 6}, // up to a jump's target
		{1, 2, 3}, // up to end
		{3, 6, 10},
	} {
		if got := g.StraightSize(c.at[x.from], c.at[x.end]); got != uint64(x.want) {
			t.Errorf("from %d: %d bytes, want %d", x.from, got, x.want)
		}
	}
}

func TestVexLength(t *testing.T) {
	for _, c := range [][]byte{
		{0xc5, 0xf8, 0x77},                                     // vzeroupper
		{0xc5, 0xf1, 0x58, 0xc2},                               // vaddpd xmm0, xmm1, xmm2
		{0xc5, 0xfa, 0x10, 0x44, 0x24, 0x08},                   // vmovss xmm0, [rsp+8]
		{0xc5, 0xfa, 0x10, 0x05, 1, 0, 0, 0},                   // vmovss xmm0, [rip+1]
		{0xc5, 0xf9, 0x70, 0xc1, 0x1b},                         // vpshufd xmm0, xmm1, 27
		{0xc4, 0xe2, 0x71, 0xb8, 0xc2},                         // vfmadd231ps xmm0, xmm1, xmm2
		{0xc4, 0xe3, 0x7d, 0x19, 0xc1, 0x01},                   // vextractf128 xmm1, ymm0, 1
		{0xc4, 0xe2, 0x7d, 0x18, 0x84, 0x88, 0x44, 3, 0, 0},    // vbroadcastss ymm0, [rax+rcx*4+836]
		{0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x40, 0x01},             // vmovdqa64 zmm0, [rax+64]
		{0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0xff},             // vpternlogd zmm0, zmm1, zmm2, 255
		{0x62, 0xf1, 0x7c, 0x48, 0x28, 0x04, 0x25, 1, 0, 0, 0}, // vmovaps zmm0, [1]
	} {
		if got := vexLength(append(slices.Clone(c), 0x90, 0x90, 0x90, 0x90, 0x90, 0x90)); got != len(c) {
			t.Errorf("% x: %d bytes, want %d", c, got, len(c))
		}
	}
	if vexLength([]byte{0x90, 0x90, 0x90, 0x90}) != 0 {
		t.Error("a nop has a prefix")
	}
}

func FuzzFlow(f *testing.F) {
	f.Add([]byte{0x85, 0xc0, 0x75, 0x05, 0xff, 0xe0, 0xc3}, uint8(1), uint8(3))
	f.Fuzz(func(t *testing.T, code []byte, a, b uint8) {
		places := []uint64{0x1000 + uint64(a), 0x1000 + uint64(b)}
		g := New(0x1000, []Code{{0x1000, code}}, places)
		for _, p := range g.First(places) {
			if !slices.Contains(places, p) {
				t.Errorf("%x was not asked about", p)
			}
		}
		g.LoopsBack(places[0], places[1:])
		g.Alike(places[0], places[0]+8, places[1], places[1]+8)
		if n := g.StraightSize(places[0], places[1]); n > uint64(len(code)) {
			t.Errorf("%d bytes straight on, of %d", n, len(code))
		}
		for _, e := range g.Returns() {
			if e < 0x1000 || e >= 0x1000+uint64(len(code)) {
				t.Errorf("a return at %x", e)
			}
		}
	})
}
