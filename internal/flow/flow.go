// Package flow knows which instructions of a function can follow which, as far as their bytes tell:
// which of some places in it are come to first, and whether one of them is only ever
// reached through another. It is pure, and for x86-64.
//
// What the bytes do not tell: where an indirect jump goes (a switch's table: it is taken to go
// to all code that nothing else leads to), which calls never return (all are
// taken to), and where an exception goes on (nowhere).
//
// Nobody vouches for the bytes: anything is decoded to something.
package flow

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Code is a stretch of a function's code.
type Code struct {
	Addr  uint64
	Bytes []byte
}

// most is how many instructions of a function are looked at: more than the longest has that
// somebody wrote.
const most = 1 << 20

// kind is what an instruction does to the order in which others run.
type kind uint8

const (
	plain kind = iota
	filler
	call
	branch   // conditional
	jump     // to its target
	indirect // jump
	end      // nothing follows
)

type inst struct {
	addr   uint64
	target int32 // index of what is jumped to; -1: nothing in the function
	op     uint16
	size   uint8
	kind   kind
	led    bool // something jumps to it
	first  bool // nothing comes before it in its stretch
}

// Graph is the instructions of a function, and what follows what.
type Graph struct {
	insts   []inst // ascending by address
	orphans []int32
	calls   map[int32]uint64 // where the direct ones go
	entry   uint64
}

// New decodes a function that is entered at entry. The starts are addresses at which
// instructions are known to begin.
func New(entry uint64, code []Code, starts []uint64) *Graph {
	g := &Graph{entry: entry, calls: map[int32]uint64{}}
	code = slices.Clone(code)
	slices.SortFunc(code, func(a, b Code) int { return cmp.Compare(a.Addr, b.Addr) })
	starts = slices.Sorted(slices.Values(starts))
	targets := map[int]uint64{}
	for _, c := range code {
		first := true
		for at := 0; at < len(c.Bytes) && len(g.insts) < most; {
			i, rel, ok := decode(c.Bytes[at:])
			i.addr, i.first = c.Addr+uint64(at), first
			if n, _ := slices.BinarySearch(starts, i.addr+1); n < len(starts) && starts[n] < i.addr+uint64(i.size) {
				i.size, ok = uint8(starts[n]-i.addr), false // not what was thought
			}
			switch to := i.addr + uint64(i.size) + uint64(rel); {
			case ok && (i.kind == branch || i.kind == jump):
				targets[len(g.insts)] = to
			case ok && i.kind == call && rel != 0:
				g.calls[int32(len(g.insts))] = to
			}
			if !ok {
				i.kind = plain
			}
			first = false
			g.insts = append(g.insts, i)
			at += int(i.size)
		}
	}
	for from, to := range targets {
		if t := g.at(to); t >= 0 {
			g.insts[from].target = int32(t)
			g.insts[t].led = true
		}
	}
	for i := range g.insts {
		x := &g.insts[i]
		if x.led || x.kind == filler || x.addr == entry {
			continue
		}
		if x.first || !g.insts[i-1].falls() {
			g.orphans = append(g.orphans, int32(i))
		}
	}
	return g
}

// Len is how many instructions there are: what First and Repeats look at, each time.
func (g *Graph) Len() int { return len(g.insts) }

// falls reports whether the next instruction can be run after it.
func (x *inst) falls() bool { return x.kind != jump && x.kind != indirect && x.kind != end }

// decode gives an instruction and how far it jumps. What is no instruction is a byte long.
func decode(code []byte) (i inst, rel int64, ok bool) {
	i.target = -1
	switch {
	case bytes.HasPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa}): // endbr64: where indirect jumps go
		i.size = 4
		return i, 0, true
	case code[0] == 0xcc:
		i.size, i.kind = 1, filler
		return i, 0, true
	}
	if n := vexLength(code); n > 0 {
		i.size = uint8(n)
		i.op = 1<<15 | uint16(code[0])
		return i, 0, true
	}
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Len <= 0 || x.Len > len(code) {
		i.size = 1
		return i, 0, false
	}
	i.size, i.op = uint8(x.Len), uint16(x.Op)
	r, direct := x.Args[0].(x86asm.Rel)
	switch x.Op {
	case x86asm.NOP, x86asm.FNOP:
		i.kind = filler
	case x86asm.CALL, x86asm.SYSCALL:
		i.kind = call
	case x86asm.JMP:
		if i.kind = indirect; direct {
			i.kind = jump
		}
	case x86asm.RET, x86asm.LRET, x86asm.UD2, x86asm.HLT, x86asm.IRET:
		i.kind = end
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE,
		x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JS,
		x86asm.JCXZ, x86asm.JECXZ, x86asm.JRCXZ, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		i.kind = branch
	}
	return i, int64(r), true
}

// at gives the index of the instruction at an address, -1 if none begins there.
func (g *Graph) at(addr uint64) int {
	i, ok := slices.BinarySearchFunc(g.insts, addr, func(x inst, a uint64) int { return cmp.Compare(x.addr, a) })
	if !ok {
		return -1
	}
	return i
}

// each shows the instructions that can be run right after i.
func (g *Graph) each(i int32, visit func(int32)) {
	x := &g.insts[i]
	if x.target >= 0 {
		visit(x.target)
	}
	if x.falls() && int(i)+1 < len(g.insts) && !g.insts[i+1].first {
		visit(i + 1)
	}
	if x.kind == indirect {
		for _, o := range g.orphans {
			visit(o)
		}
	}
}

// reach goes on from some instructions, but not beyond the stops, and gives the stops that it comes to.
func (g *Graph) reach(from []int32, stops map[int32]bool) (met map[int32]bool) {
	met = map[int32]bool{}
	seen := make([]bool, len(g.insts))
	jumped := false
	visit := func(i int32) {
		if !seen[i] {
			seen[i] = true
			from = append(from, i)
		}
	}
	from = slices.Clone(from)
	for len(from) > 0 {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		if stops[i] {
			met[i] = true
			continue
		}
		if g.insts[i].kind == indirect {
			if jumped {
				continue // it leads where the one before did
			}
			jumped = true
		}
		g.each(i, visit)
	}
	return met
}

func (g *Graph) indices(addrs []uint64) map[int32]bool {
	is := map[int32]bool{}
	for _, a := range addrs {
		if i := g.at(a); i >= 0 {
			is[int32(i)] = true
		}
	}
	return is
}

// First gives those of the places that can be come to from the function's entry without
// passing another of them, ascending. Places that only an exception leads to are come to
// if there are no others.
func (g *Graph) First(places []uint64) []uint64 {
	stops := g.indices(places)
	var met map[int32]bool
	if e := g.at(g.entry); e >= 0 {
		met = g.reach([]int32{int32(e)}, stops)
	}
	if len(met) == 0 {
		met = g.reach(g.orphans, stops)
	}
	var first []uint64
	for i := range met {
		first = append(first, g.insts[i].addr)
	}
	slices.Sort(first)
	return first
}

// Repeats reports whether a place can be come to again from itself without passing
// any of the others.
func (g *Graph) Repeats(place uint64, others []uint64) bool {
	i := g.at(place)
	if i < 0 {
		return false
	}
	stops := g.indices(others)
	stops[int32(i)] = true
	var after []int32
	g.each(int32(i), func(n int32) { after = append(after, n) })
	return g.reach(after, stops)[int32(i)]
}

// Straight is how many bytes of code there are from an address up to end that are run whenever
// that is, and only then: up to the first jump or call, included.
func (g *Graph) Straight(addr, end uint64) uint64 {
	i := g.at(addr)
	if i < 0 {
		return 0
	}
	at := addr
	for n := i; n < len(g.insts); n++ {
		x := &g.insts[n]
		if n > i && (x.led || x.first || x.addr == g.entry) || x.addr >= end && n > i {
			break
		}
		at = x.addr + uint64(x.size)
		if x.kind != plain && x.kind != filler {
			break
		}
	}
	return at - addr
}

// Alike reports whether two stretches have the same instructions, their operands aside, or
// first call the same function: as copies of one statement do that a compiler made of a loop.
func (g *Graph) Alike(a, aEnd, b, bEnd uint64) bool {
	i, j := g.at(a), g.at(b)
	if i < 0 || j < 0 {
		return false
	}
	if to, ok := g.firstCall(i, aEnd); ok {
		other, ok := g.firstCall(j, bEnd)
		return ok && to == other
	}
	for {
		inA := i < len(g.insts) && g.insts[i].addr < aEnd
		inB := j < len(g.insts) && g.insts[j].addr < bEnd
		if !inA || !inB {
			return inA == inB
		}
		if g.insts[i].op != g.insts[j].op {
			return false
		}
		i++
		j++
	}
}

func (g *Graph) firstCall(i int, end uint64) (to uint64, ok bool) {
	for ; i < len(g.insts) && g.insts[i].addr < end; i++ {
		if to, ok := g.calls[int32(i)]; ok {
			return to, true
		}
	}
	return 0, false
}

// Ends gives the addresses of the instructions that return.
func (g *Graph) Ends() []uint64 {
	var ends []uint64
	for _, x := range g.insts {
		if x.kind == end && (x.op == uint16(x86asm.RET) || x.op == uint16(x86asm.LRET)) {
			ends = append(ends, x.addr)
		}
	}
	return ends
}
