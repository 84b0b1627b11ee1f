// Package spinwait tells from machine code whether an instruction is part of a
// busy-wait loop: one that ends only when another thread changes memory. A
// profiler must know, because a thread that waits by spinning looks busy, yet
// making its loop faster gains nothing.
//
// The verdict is about code, not about an execution: the loop may have found
// its condition true at once. A loop without calls, but for those that make room for
// others (sched_yield), is a wait if either
//
//   - it executes PAUSE, the hint that compilers and libraries give for this;
//     bounded spins before sleeping, and back-off delays, count; or
//   - nothing is carried from one iteration to the next in registers or stack
//     slots, it reads memory, it can be left, and it writes to memory only
//     with xchg or cmpxchg. Then every iteration does the same as the one
//     before, unless memory has changed.
//
// The second catches test-and-set locks: their attempts write, but only what
// they would have written before. It does not catch lock-free updates (load,
// add, cmpxchg), although a failed attempt means that another thread was there:
// what they store depends on what they read, so the next attempt succeeds by
// itself. Loops that read the clock, or anything else that is not memory, are
// no waits for another thread. A reader of a seqlock is one.
//
// Only x86-64 is known. SpinWait answers for an instruction, Waits for a whole function. Both
// read only the bytes they are given, and ask the caller, package symbol, which callees only make room for others.
package spinwait

import (
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

const (
	// maxBefore bounds the code looked at before an address. An instruction that is known to begin
	// Before it, or still earlier, saves work.
	maxBefore = 1 << 16
	Before    = maxSpan
	// maxSpan bounds a loop from its first to its last byte, blocks that
	// belong to it moved out of line included; maxBytes the loop's own code.
	// Real waits take 7 (two instructions) to some 70 bytes (gcc -O0).
	maxSpan, maxBytes = 512, 160
	// prologue is where a function makes RBP its frame pointer, if it does: behind
	// ENDBR and some PUSH.
	prologue = 32
)

// SpinWait reports whether the x86-64 instruction at pc lies in a busy-wait
// loop. code is machine code loaded at the address start, where an instruction
// must begin: at best the whole function. known is another address where an instruction
// begins, or 0: what lies between the function's first instructions and there is not
// decoded. Code that cannot be decoded is none. yields says which functions only make room for others.
func SpinWait(code []byte, start, known, pc uint64, yields func(Callee) bool) bool {
	if pc < start || pc-start >= uint64(len(code)) {
		return false
	}
	from := uint64(0)
	if known > start && known <= pc && pc-known >= Before {
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

// jumpsBack reports whether a jump behind an instruction, the first of the code, leads to
// it or to what is before it, as the end of a loop around it does. Most code is in no loop
// that is short enough, and that is seen here by decoding some hundred
// instructions instead of thousands.
func jumpsBack(code []byte) bool {
	for to := range backwardJumps(code) {
		if to <= 0 {
			return true
		}
	}
	return false
}

// verdict is what has been found out about a loop.
type verdict struct {
	waits bool  // all of it
	hint  *loop // otherwise this in it may; nil: nothing
}

func (v verdict) isWait(at int) bool { return v.waits || v.hint != nil && v.hint.has(at) }

// judge judges a loop, as the innermost around an instruction.
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
		return verdict{waits: f.eitherCut(l, (*flow).pure)}
	}
	// The hint may be in a loop inside of this one: a lock that spins on
	// reading, then tries again. But a thread's whole work may as well be
	// around a wait: tell them apart by whether anything comes of it.
	v := verdict{waits: f.eitherCut(l, (*flow).idle)}
	if own := f.loops(pause); len(own) > 0 {
		v.hint = own[0]
	}
	return v
}

// eitherCut judges one iteration of a loop. Where an iteration begins is
// arbitrary, as long as every turn passes there: its head first, then where a
// constant is assigned, for loops that set up the next attempt at the end of
// the one before (clang -O0). What is really carried is carried over any cut.
func (f *function) eitherCut(l *loop, verdict func(*flow) bool) bool {
	w := f.flow(l, l.head)
	if verdict(w) || w.strange || w.stores || !w.carries() {
		return verdict(w)
	}
	for _, i := range l.body {
		if _, constant := f.insts[i].Args[1].(x86asm.Imm); constant && f.insts[i].Op == x86asm.MOV && !f.turnsWithout(l, i) {
			if verdict(f.flow(l, i)) {
				return true
			}
		}
	}
	return false
}

// turnsWithout reports whether the loop can turn without passing an
// instruction.
func (f *function) turnsWithout(l *loop, cut int) bool {
	done := map[int]bool{cut: true}
	// Take away, again and again, what leads only to what is taken away; a
	// cycle is what remains.
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

// decode decodes code in a row. What is unknown to the decoder is stepped over
// a byte at a time: the instructions come into step again soon.
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

// find gives the index of the instruction that holds an address, -1 if none.
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

// successors gives where control goes after an instruction, as far as it is
// in the decoded code. A call comes back.
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

// loop is a natural loop: what can reach the jump back without passing the
// instruction that it jumps to.
type loop struct {
	head int
	body []int // ascending, head included
	size int   // in bytes
}

func (l *loop) has(i int) bool {
	_, ok := slices.BinarySearch(l.body, i)
	return ok
}

// loops gives the loops that an instruction is in, the innermost first.
func (f *function) loops(at int) []*loop {
	to, _ := slices.BinarySearch(f.addrs, f.addrs[at]+maxSpan+1)
	loops := slices.DeleteFunc(f.closedBy(at, to, at), func(l *loop) bool { return !l.has(at) })
	slices.SortStableFunc(loops, smaller)
	return loops
}

func smaller(a, b *loop) int { return cmp.Compare(a.size, b.size) }

// closedBy gives the loops that are short enough to be waits and are closed by jumps back from
// one of the instructions from..to-1, to one that is not behind head.
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

// loopOf finds the loop that a jump back closes. A loop that is entered in the
// middle, at its test, has the same instructions.
func (f *function) loopOf(head, back int) *loop {
	// What the head reaches, between it and the jump.
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
	// Of that, what reaches the jump.
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
