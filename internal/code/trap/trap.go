// Package trap chooses the instruction of a function on which a breakpoint counts its calls for
// the least cost. It is pure: the caller reads the code and attaches the probe.
//
// The kernel runs most instructions under a breakpoint in a single step, out of line. That takes
// a second exception, which on a virtual machine can cost ten times the first. A few kinds of
// instructions the kernel emulates instead. Choose takes the first such instruction that runs
// exactly once a call; First and Entry are for probes that need the arguments or the stack.
package trap

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"
)

// Site is the place of a breakpoint.
type Site struct {
	Offset  int  // from the function's first instruction
	Stepped bool // the kernel runs the instruction in a single step
	LongNop bool // except if the kernel emulates long no-ops
}

// maxCode bounds the code of a function that is decoded: only generated functions have more.
const maxCode = 1 << 18

// Choose returns the site for a function's x86-64 code: the first instruction that the kernel
// emulates. A Go function begins with a check of its stack, which may restart the function; the
// site is behind the check, so that such a call is counted once. If no instruction is emulated,
// the site is the first on which the kernel accepts a breakpoint.
func Choose(code []byte, isGo bool) Site {
	if len(code) > maxCode {
		code = code[:maxCode]
	}
	targets := jumpTargets(code)
	first := 0
	if isGo {
		first = afterCheck(code)
	}
	stepped := -1
	for at := first; at < len(code); {
		i, err := decode(code[at:])
		if err != nil {
			break
		}
		// A jump's target may run more often than once a call.
		if at > 0 && targets[at] {
			break
		}
		if emulated(code[at : at+i.Len]) {
			return Site{Offset: at}
		}
		if stepped < 0 && !refused(code[at:at+i.Len]) && !rewritten(i) {
			stepped = at
		}
		if jumps(i.Op) {
			break
		}
		at += i.Len
	}
	if stepped < 0 {
		stepped = first
	}
	return siteAt(code, stepped)
}

// First returns the first instruction that runs once a call. In a Go function that is behind the
// check of its stack, which keeps the arguments in their registers.
func First(code []byte, isGo bool) Site {
	if len(code) > maxCode {
		code = code[:maxCode]
	}
	first := 0
	if isGo {
		first = afterCheck(code)
	}
	return siteAt(code, first)
}

// siteAt returns the site at an offset of the code.
func siteAt(code []byte, offset int) Site {
	s := At(code[offset:])
	s.Offset += offset
	return s
}

// Behind is the length of the no-ops of five bytes that the code begins with. A probe belongs behind them: when a probe
// on such a no-op is met for the first time, Linux 6.18 replaces it by a call into a page that the kernel adds to the
// process. A child that the process forks has the call, but not the page, and dies of it (SIGSEGV), even if the probe
// is gone by then. Later kernels are to copy the page.
func Behind(code []byte) (n int) {
	for {
		i, err := decode(code[n:])
		if err != nil || !rewritten(i) {
			return n
		}
		n += i.Len
	}
}

func rewritten(i x86asm.Inst) bool { return i.Op == x86asm.NOP && i.Len == 5 }

// afterCheck returns the offset of the first instruction behind a Go function's check of its
// stack, 0 if the function has no check. The check ends with the last of the function's first
// conditional jumps that lead to code which restarts the function.
func afterCheck(code []byte) (after int) {
	for at := 0; at < len(code); {
		i, err := decode(code[at:])
		if err != nil {
			break
		}
		at += i.Len
		if !jumps(i.Op) {
			continue
		}
		rel, ok := i.Args[0].(x86asm.Rel)
		if !conditional(i.Op) || !ok || !restarts(code, at+int(rel)) {
			break
		}
		after = at
	}
	return after
}

// restarts reports whether the code at an offset jumps to the function's beginning. Before the
// jump it may only move registers and call once. A call of throw often stands right in front of
// this code. Decoding does not know that it never returns, and sees a second call.
func restarts(code []byte, at int) bool {
	const longest = 64 // instructions: save and load all argument registers
	called := false
	for range longest {
		if at < 0 || at >= len(code) {
			return false
		}
		i, err := decode(code[at:])
		if err != nil {
			return false
		}
		at += i.Len
		if i.Op == x86asm.JMP {
			rel, ok := i.Args[0].(x86asm.Rel)
			return ok && at+int(rel) == 0
		}
		if i.Op == x86asm.CALL && !called {
			called = true
			continue
		}
		if jumps(i.Op) {
			return false
		}
	}
	return false
}

// At returns the site on the first instruction of the code, for probes that must be there, or behind no-ops that
// cannot have a probe.
func At(code []byte) Site {
	n := Behind(code)
	return Site{Offset: n, Stepped: !emulated(code[n:]), LongNop: longNop(code[n:])}
}

// Entry returns the site for a probe that needs the return address on top of the stack, as it is
// at the function's first instruction.
func Entry(code []byte) Site {
	if rest, ok := bytes.CutPrefix(code, endbr64); ok && emulated(rest) {
		return Site{Offset: len(endbr64)}
	}
	return At(code)
}

var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// longNop reports whether the code begins with a no-op of several bytes, apart from prefixes.
func longNop(code []byte) bool {
	code = bytes.TrimLeft(code, "\x66\x2e")
	if bytes.HasPrefix(code, []byte{0x48}) {
		code = code[1:]
	}
	return bytes.HasPrefix(code, []byte{0x0f, 0x1f})
}

// emulated reports whether the kernel emulates the code's first instruction (see
// arch/x86/kernel/uprobes.c): relative calls and jumps, one-byte no-ops and pushes of a
// register. Newer kernels also emulate other no-ops.
func emulated(code []byte) bool {
	if len(code) == 0 {
		return false
	}
	if code[0]&0xf0 == 0x40 && len(code) > 1 { // REX
		return code[1]&0xf8 == 0x50
	}
	switch op := code[0]; {
	case op == 0xe8, op == 0xe9, op == 0xeb, op == 0x90:
		return true
	case op&0xf8 == 0x50: // push
		return true
	case op&0xf0 == 0x70: // short conditional jump
		return true
	case op == 0x0f && len(code) > 1:
		return code[1]&0xf0 == 0x80 // near conditional jump
	}
	return false
}

// refused reports whether the kernel refuses a breakpoint on the instruction because of a
// prefix: a lock, as of an atomic counter, or a segment.
func refused(code []byte) bool {
	for _, b := range code {
		switch b {
		case 0xf0, 0x26, 0x2e, 0x36, 0x3e:
			return true
		case 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3: // other prefixes
		default:
			return false
		}
	}
	return false
}

// decode decodes the first instruction. It knows endbr64, which x86asm does not, and with which
// many functions begin.
func decode(code []byte) (x86asm.Inst, error) {
	if bytes.HasPrefix(code, endbr64) {
		return x86asm.Inst{Op: x86asm.NOP, Len: 4}, nil
	}
	return x86asm.Decode(code, 64)
}

func conditional(op x86asm.Op) bool {
	switch op {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JNE, x86asm.JG, x86asm.JGE,
		x86asm.JL, x86asm.JLE, x86asm.JO, x86asm.JNO, x86asm.JP, x86asm.JNP, x86asm.JS, x86asm.JNS,
		x86asm.JCXZ, x86asm.JECXZ, x86asm.JRCXZ, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		return true
	}
	return false
}

// jumps reports whether the next instruction need not run after this one.
func jumps(op x86asm.Op) bool {
	switch op {
	case x86asm.JMP, x86asm.RET, x86asm.LRET, x86asm.CALL, x86asm.SYSCALL, x86asm.UD2, x86asm.HLT, x86asm.INT:
		return true
	}
	return conditional(op)
}

// jumpTargets returns the offsets to which instructions of the code jump.
func jumpTargets(code []byte) map[int]bool {
	targets := make(map[int]bool)
	for at := 0; at < len(code); {
		i, err := decode(code[at:])
		if err != nil {
			at++ // padding or data; a wrong target does no harm
			continue
		}
		at += i.Len
		if rel, ok := i.Args[0].(x86asm.Rel); ok && i.Op != x86asm.CALL {
			targets[at+int(rel)] = true
		}
	}
	return targets
}
