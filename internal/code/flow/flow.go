// Package flow builds the control flow graph of a function from its machine code. It answers
// which of some places are reached first, and whether one place is reached only through another.
// Call New once for a function, then the methods of the Graph. The package is pure, and knows
// x86-64 only, except for ReturnsARM64.
//
// The bytes leave three things open, for which the package makes assumptions. An indirect jump,
// as of a switch's table, goes to all code that nothing else leads to. Every call returns. An
// exception continues nowhere.
//
// The bytes are not trusted: any input is decoded to something.
package flow

import (
	"bytes"
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Code is a contiguous part of a function's code.
type Code struct {
	Addr  uint64
	Bytes []byte
}

// maxInstructions bounds the instructions of one function: more than the longest hand-written
// function has.
const maxInstructions = 1 << 20

// MaxCode is the size, in bytes, of the largest function that callers pass to New.
const MaxCode = 8 << 20

// kind says what an instruction does to the control flow.
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
	target int32 // index of the jump's target; -1: not in the function
	op     uint16
	size   uint8
	kind   kind

	isTarget   bool // a jump leads to it
	startsCode bool // it is the first of its Code
}

// Graph holds the instructions of a function and the order in which they can run.
type Graph struct {
	insts   []inst           // ascending by address
	orphans []int32          // that nothing leads to
	calls   map[int32]uint64 // targets of direct calls, by index
	entry   uint64
}

// New decodes a function that is entered at entry. starts are addresses at which instructions
// are known to begin.
func New(entry uint64, code []Code, starts []uint64) *Graph {
	g := &Graph{entry: entry, calls: map[int32]uint64{}}
	code = slices.Clone(code)
	slices.SortFunc(code, func(a, b Code) int { return cmp.Compare(a.Addr, b.Addr) })
	starts = slices.Sorted(slices.Values(starts))
	targets := map[int]uint64{}
	for _, c := range code {
		first := true
		for at := 0; at < len(c.Bytes) && len(g.insts) < maxInstructions; {
			i, rel, ok := decode(c.Bytes[at:])
			i.addr, i.startsCode = c.Addr+uint64(at), first
			if n, _ := slices.BinarySearch(starts, i.addr+1); n < len(starts) && starts[n] < i.addr+uint64(i.size) {
				i.size, ok = uint8(starts[n]-i.addr), false // these bytes are no instruction
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
			g.insts[t].isTarget = true
		}
	}
	for i := range g.insts {
		x := &g.insts[i]
		if x.isTarget || x.kind == filler || x.addr == entry {
			continue
		}
		if x.startsCode || !g.insts[i-1].fallsThrough() {
			g.orphans = append(g.orphans, int32(i))
		}
	}
	return g
}

// Len returns the number of instructions: the most that one call of First or LoopsBack visits.
func (g *Graph) Len() int { return len(g.insts) }

// fallsThrough reports whether the instruction can be followed by the next one.
func (x *inst) fallsThrough() bool { return x.kind != jump && x.kind != indirect && x.kind != end }

// decode returns the first instruction of the code and the distance of its jump. Bytes that are
// no instruction count as one of a byte.
func decode(code []byte) (i inst, rel int64, ok bool) {
	i.target = -1
	switch {
	case bytes.HasPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa}): // endbr64, which x86asm does not know
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

// at returns the index of the instruction that begins at an address, -1 if none does.
func (g *Graph) at(addr uint64) int {
	i, ok := slices.BinarySearchFunc(g.insts, addr, func(x inst, a uint64) int { return cmp.Compare(x.addr, a) })
	if !ok {
		return -1
	}
	return i
}

// successors calls visit for each instruction that can run right after i.
func (g *Graph) successors(i int32, visit func(int32)) {
	x := &g.insts[i]
	if x.target >= 0 {
		visit(x.target)
	}
	if x.fallsThrough() && int(i)+1 < len(g.insts) && !g.insts[i+1].startsCode {
		visit(i + 1)
	}
	if x.kind == indirect {
		for _, o := range g.orphans {
			visit(o)
		}
	}
}

// reach follows the control flow from some instructions up to the stops, and returns the stops
// that it meets.
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
				continue // all indirect jumps have the same targets
			}
			jumped = true
		}
		g.successors(i, visit)
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

// First returns the places that the function's entry reaches without passing another place,
// ascending. If the entry reaches none, First starts at the code that nothing leads to, such as
// an exception's landing pad.
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

// LoopsBack reports whether the code can return from a place to the same place without passing
// any of the others.
func (g *Graph) LoopsBack(place uint64, others []uint64) bool {
	i := g.at(place)
	if i < 0 {
		return false
	}
	stops := g.indices(others)
	stops[int32(i)] = true
	var after []int32
	g.successors(int32(i), func(n int32) { after = append(after, n) })
	return g.reach(after, stops)[int32(i)]
}

// StraightSize returns the size of the code that runs exactly as often as the instruction at
// addr: from addr up to end, or to the first jump or call (included), or to a jump's target.
func (g *Graph) StraightSize(addr, end uint64) uint64 {
	i := g.at(addr)
	if i < 0 {
		return 0
	}
	at := addr
	for n := i; n < len(g.insts); n++ {
		x := &g.insts[n]
		if n > i && (x.isTarget || x.startsCode || x.addr == g.entry) || x.addr >= end && n > i {
			break
		}
		at = x.addr + uint64(x.size)
		if x.kind != plain && x.kind != filler {
			break
		}
	}
	return at - addr
}

// Alike reports whether two pieces of code first call the same function or, without a call, have
// the same instructions apart from operands. Copies of one statement that a compiler made of a
// loop are alike.
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

// Returns returns the addresses of the function's return instructions.
func (g *Graph) Returns() []uint64 {
	var ends []uint64
	for _, x := range g.insts {
		if x.kind == end && (x.op == uint16(x86asm.RET) || x.op == uint16(x86asm.LRET)) {
			ends = append(ends, x.addr)
		}
	}
	return ends
}
