// Package spinwait decides from machine code whether an instruction is in a busy-wait loop, which
// ends only when another thread changes memory. A profiler must know that: a spinning thread looks
// busy, but a faster loop gains nothing.
//
// The verdict is about code, not about an execution: the loop's condition may have been true at
// once. The loop may call nothing, except functions that only yield the core (sched_yield). Such a
// loop is a wait in two cases:
//
//   - It executes PAUSE, the hint for busy-waiting. Bounded spins before sleeping, and back-off
//     delays, count.
//   - No iteration passes a value to the next in registers or stack slots. The loop reads memory,
//     can be left, and writes to memory only with xchg or cmpxchg. Then every iteration does the
//     same as the one before, unless memory has changed.
//
// The second case covers test-and-set locks: each attempt writes the same value. It does not cover
// lock-free updates (load, add, cmpxchg). There a failed attempt also means that another thread was
// active, but the stored value depends on the loaded one, so the next attempt succeeds by itself.
// A reader of a seqlock is a wait. A loop that reads the clock, or anything else that is not
// memory, does not wait for another thread.
//
// Call Waits for a whole function, or SpinWait for one instruction of a function that is too long.
// Both know x86-64 only, read only the bytes that they are given, and ask the caller (package
// symbol) which callees only yield. To answer, package symbol uses Yielders and Wrapped.
package spinwait

import (
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

const (
	// maxBefore bounds the code before an instruction that SpinWait decodes.
	maxBefore = 1 << 16
	// Margin is the least distance, in bytes, from the address known to pc at which SpinWait uses it.
	Margin = maxSpan
	// maxSpan bounds a loop from its first to its last byte, with other code in between; maxBytes
	// bounds the loop's own code. Real waits take 7 bytes (two instructions) to some 70 (gcc -O0).
	maxSpan, maxBytes = 512, 160
	// prologue bounds the code in which a function makes RBP its frame pointer: behind ENDBR and
	// some PUSH.
	prologue = 32
)

// SpinWait reports whether the x86-64 instruction at pc is in a busy-wait loop. code is machine
// code loaded at the address start, at which an instruction begins: best the whole function. known
// is an address at which another instruction begins, or 0; code between the prologue and known is
// not decoded. yields reports whether a function only yields the core. If the code cannot be
// decoded, the answer is no.
func SpinWait(code []byte, start, known, pc uint64, yields func(Callee) bool) bool {
	if pc < start || pc-start >= uint64(len(code)) {
		return false
	}
	from := uint64(0)
	if known > start && known <= pc && pc-known >= Margin {
		from = known - start
	}
	if pc-start-from > maxBefore {
		return false
	}
	code = code[:min(uint64(len(code)), pc-start+maxSpan)]
	if !jumpsBack(code[pc-start:]) {
		return false
	}
	f := decode(code[from:], start+from)
	f.yields = yields
	f.frameBP = f.frameBP || decode(code[:min(from, prologue)], start).frameBP
	at := f.find(pc)
	if at < 0 {
		return false
	}
	loops := f.loops(at)
	return len(loops) > 0 && f.judge(loops[0]).isWait(at)
}

// jumpsBack reports whether a jump in the code leads to its first instruction or before it, as the
// end of a loop around that instruction does. Most code is in no short loop; this check sees that
// by decoding some hundred instructions instead of thousands.
func jumpsBack(code []byte) bool {
	for to := range backwardJumps(code) {
		if to <= 0 {
			return true
		}
	}
	return false
}

// verdict says which part of a loop is a wait.
type verdict struct {
	waits bool  // the whole loop
	hint  *loop // else this inner loop with a PAUSE; nil: nothing
}

func (v verdict) isWait(at int) bool { return v.waits || v.hint != nil && v.hint.has(at) }

// judge judges a loop. It must be the innermost loop around the instruction in question.
func (f *function) judge(l *loop) verdict {
	pause := -1
	for _, i := range l.body {
		switch f.insts[i].Op {
		case x86asm.CALL:
			if c, known := f.callee(i); !known || !f.yields(c) {
				return verdict{}
			}
		case x86asm.LCALL, x86asm.SYSCALL, x86asm.SYSENTER, x86asm.INT, x86asm.UD2, x86asm.HLT:
			return verdict{}
		case x86asm.PAUSE:
			pause = i
		}
	}
	if pause < 0 {
		return verdict{waits: f.anyCut(l, (*iteration).pure)}
	}
	// The PAUSE may be in an inner loop: a lock that spins reading, then tries again. But the outer
	// loop may also be a thread's whole work around a wait. Only work carries or stores something.
	v := verdict{waits: f.anyCut(l, (*iteration).idle)}
	if own := f.loops(pause); len(own) > 0 {
		v.hint = own[0]
	}
	return v
}

// anyCut reports whether the verdict is true of a loop's iterations. An iteration may be cut at any
// instruction that every turn passes: the head is tried first, then assignments of constants, for
// loops that set up the next attempt at the end of the one before (clang -O0). A value that is
// really carried is carried over every cut.
func (f *function) anyCut(l *loop, verdict func(*iteration) bool) bool {
	w := f.iteration(l, l.head)
	if verdict(w) || w.unknown || w.stores || !w.carries() {
		return verdict(w)
	}
	for _, i := range l.body {
		_, constant := f.insts[i].Args[1].(x86asm.Imm)
		if !constant || f.insts[i].Op != x86asm.MOV || f.repeatsWithout(l, i) {
			continue
		}
		if verdict(f.iteration(l, i)) {
			return true
		}
	}
	return false
}

// repeatsWithout reports whether the loop can repeat without passing an instruction.
func (f *function) repeatsWithout(l *loop, cut int) bool {
	done := map[int]bool{cut: true}
	// Remove, again and again, instructions that lead only to removed ones. A cycle remains.
	for changed := true; changed; {
		changed = false
		for _, i := range l.body {
			if done[i] {
				continue
			}
			stays := false
			for _, s := range f.succ[i] {
				stays = stays || s >= 0 && l.has(s) && !done[s]
			}
			if !stays {
				done[i], changed = true, true
			}
		}
	}
	return len(done) < len(l.body)
}

// function is decoded code.
type function struct {
	insts   []x86asm.Inst
	addrs   []uint64
	succ    [][2]int // indices of the next instructions, -1 for none
	frameBP bool     // RBP is the frame pointer
	yields  func(Callee) bool
}

func (f *function) after(i int) uint64 { return f.addrs[i] + uint64(f.insts[i].Len) }

// decode decodes the code from front to back. It steps over unknown bytes one at a time; after some
// bytes it meets the real instructions again.
func decode(code []byte, start uint64) *function {
	const typical = 4 // bytes an instruction
	f := &function{insts: make([]x86asm.Inst, 0, len(code)/typical), addrs: make([]uint64, 0, len(code)/typical)}
	for off := 0; off < len(code); {
		inst, err := x86asm.Decode(code[off:], 64)
		if err != nil || inst.Len == 0 {
			inst = x86asm.Inst{Len: 1}
		}
		if inst.Op == x86asm.MOV && inst.Args[0] == x86asm.RBP && inst.Args[1] == x86asm.RSP {
			f.frameBP = true
		}
		f.insts = append(f.insts, inst)
		f.addrs = append(f.addrs, start+uint64(off))
		off += inst.Len
	}
	f.succ = make([][2]int, len(f.insts))
	for i := range f.insts {
		f.succ[i] = f.successors(i)
	}
	return f
}

// find returns the index of the instruction that contains an address, -1 if there is none.
func (f *function) find(addr uint64) int {
	i, ok := slices.BinarySearch(f.addrs, addr)
	if !ok {
		i--
	}
	if i < 0 || addr >= f.addrs[i]+uint64(f.insts[i].Len) {
		return -1
	}
	return i
}

// successors returns the instructions that can follow one, as far as they are in the decoded code. A
// call returns.
func (f *function) successors(i int) [2]int {
	next := i + 1
	if next == len(f.insts) {
		next = -1
	}
	target := -1
	if rel, ok := f.insts[i].Args[0].(x86asm.Rel); ok {
		addr := f.after(i) + uint64(int64(rel))
		if t := f.find(addr); t >= 0 && f.addrs[t] == addr {
			target = t
		}
	}
	switch op := f.insts[i].Op; {
	case op == x86asm.JMP:
		return [2]int{target, -1}
	case op == x86asm.RET || op == x86asm.LRET || op == x86asm.UD2 || op == x86asm.HLT || op == x86asm.IRET:
		return [2]int{-1, -1}
	case isBranch(op):
		return [2]int{next, target}
	}
	return [2]int{next, -1}
}

// isBranch reports whether an instruction is a conditional jump.
func isBranch(op x86asm.Op) bool {
	switch op {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE,
		x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JS,
		x86asm.JCXZ, x86asm.JECXZ, x86asm.JRCXZ, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		return true
	}
	return false
}

// loop is a natural loop: its head, and the instructions that can reach the jump back to the head
// without passing the head.
type loop struct {
	head int
	body []int // ascending, head included
	size int   // in bytes
}

func (l *loop) has(i int) bool {
	_, ok := slices.BinarySearch(l.body, i)
	return ok
}

// loops returns the loops around an instruction, the innermost first.
func (f *function) loops(at int) []*loop {
	to, _ := slices.BinarySearch(f.addrs, f.addrs[at]+maxSpan+1)
	loops := slices.DeleteFunc(f.closedBy(at, to, at), func(l *loop) bool { return !l.has(at) })
	slices.SortStableFunc(loops, smaller)
	return loops
}

func smaller(a, b *loop) int { return cmp.Compare(a.size, b.size) }

// closedBy returns the loops that are short enough for a wait and end with a jump back to head or before
// it. The jump is one of the instructions from..to-1.
func (f *function) closedBy(from, to, head int) []*loop {
	var loops []*loop
	for back := from; back < to; back++ {
		for _, h := range f.succ[back] {
			if h < 0 || h > min(back, head) || f.addrs[back]-f.addrs[h] > maxSpan {
				continue
			}
			if l := f.loopOf(h, back); l.size > 0 && l.size <= maxBytes {
				loops = append(loops, l)
			}
		}
	}
	return loops
}

// loopOf returns the loop that a jump back closes; its size is 0 if the head does not reach the jump.
// A loop that is entered in the middle, at its test, has the same instructions.
func (f *function) loopOf(head, back int) *loop {
	// The instructions that the head reaches, up to the jump.
	reached := map[int]bool{head: true}
	for todo := []int{head}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i == back {
			continue
		}
		for _, s := range f.succ[i] {
			if s > head && s <= back && !reached[s] {
				reached[s] = true
				todo = append(todo, s)
			}
		}
	}
	// Of these, the instructions that reach the jump.
	before := map[int][]int{}
	for i := range reached {
		for _, s := range f.succ[i] {
			if reached[s] {
				before[s] = append(before[s], i)
			}
		}
	}
	in := map[int]bool{head: true, back: true}
	for todo := []int{back}; len(todo) > 0; {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if i == head {
			continue
		}
		for _, p := range before[i] {
			if !in[p] {
				in[p] = true
				todo = append(todo, p)
			}
		}
	}
	l := &loop{head: head}
	if !reached[back] {
		return l
	}
	for i := range in {
		l.body = append(l.body, i)
		l.size += f.insts[i].Len
	}
	slices.Sort(l.body)
	return l
}
