// Package trap chooses where in a function a breakpoint is put to count its
// calls. It is pure.
//
// The kernel runs most instructions under a breakpoint in single steps, out of
// line, which takes a second exception; on a virtual machine that can cost ten
// times the first. A few instructions it emulates instead. Any instruction that is
// passed exactly once a call will do, so the first of those is taken.
package trap

import (
	"bytes"

	"golang.org/x/arch/x86/x86asm"
)

// Site is where the breakpoint goes.
type Site struct {
	Offset  int  // from the function's first instruction
	Stepped bool // the instruction there is run in a single step
	LongNop bool // unless the kernel is one that emulates long no-ops
}

// maxCode bounds what is decoded of a function; more than all but generated ones have.
const maxCode = 1 << 18

// Choose decodes the code of a function, x86-64, up to its end. A Go function
// begins with a check of its stack that may start it anew: the breakpoint is
// put behind that, so that such a call is not counted twice. Where none is
// emulated the answer is the first that the kernel puts a breakpoint on at all.
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
		// What is jumped to may be passed more often than once a call.
		if at > 0 && targets[at] {
			break
		}
		if emulated(code[at : at+i.Len]) {
			return Site{Offset: at}
		}
		if stepped < 0 && !refused(code[at:at+i.Len]) {
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

// First is the first instruction that is passed once a call: behind Go's check of its
// stack, which keeps the arguments in their registers.
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

// siteAt is a breakpoint on the instruction at an offset.
func siteAt(code []byte, offset int) Site {
	s := At(code[offset:])
	s.Offset = offset
	return s
}

// afterCheck is where a Go function goes on when it has checked that its stack is large enough: behind
// the last of the conditional jumps at its beginning that lead to code which starts the
// function anew. 0 if it has no check.
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

// restarts reports whether the code at an offset jumps to the function's beginning, behind one call
// at most: what it does besides is saving registers.
func restarts(code []byte, at int) bool {
	const longest = 64 // instructions: all registers that hold arguments, twice
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
		if jumps(i.Op) && i.Op != x86asm.CALL {
			return false
		}
	}
	return false
}

// At is a breakpoint on the first instruction of the code, which cannot be elsewhere.
func At(code []byte) Site { return Site{Stepped: !emulated(code), LongNop: longNop(code)} }

// Entry chooses where a breakpoint is put that has to find the stack as it is at the
// function's first instruction, with the return address on top.
func Entry(code []byte) Site {
	if rest, ok := bytes.CutPrefix(code, endbr64); ok && emulated(rest) {
		return Site{Offset: len(endbr64)}
	}
	return At(code)
}

var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}

// longNop tells whether the code begins with a no-op of several bytes, prefixes aside.
func longNop(code []byte) bool {
	code = bytes.TrimLeft(code, "\x66\x2e")
	if bytes.HasPrefix(code, []byte{0x48}) {
		code = code[1:]
	}
	return bytes.HasPrefix(code, []byte{0x0f, 0x1f})
}

// emulated tells whether the kernel emulates the instruction at the start of
// code (arch/x86/kernel/uprobes.c): relative calls and jumps, one-byte nops,
// and pushes of a register. Other nops only newer kernels do.
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

// refused tells whether the kernel puts no breakpoint on the instruction, for one of its prefixes: a lock, as of an atomic
// counter, or a segment.
func refused(code []byte) bool {
	for _, b := range code {
		switch b {
		case 0xf0, 0x26, 0x2e, 0x36, 0x3e:
			return true
		case 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3: // more of them
		default:
			return false
		}
	}
	return false
}

// decode knows endbr64, which many compilers put first, beside what x86asm does.
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

// jumps tells whether what follows an instruction may not be run after it.
func jumps(op x86asm.Op) bool {
	switch op {
	case x86asm.JMP, x86asm.RET, x86asm.LRET, x86asm.CALL, x86asm.SYSCALL, x86asm.UD2, x86asm.HLT, x86asm.INT:
		return true
	}
	return conditional(op)
}

// jumpTargets are the offsets that instructions of the code jump to.
func jumpTargets(code []byte) map[int]bool {
	targets := make(map[int]bool)
	for at := 0; at < len(code); {
		i, err := decode(code[at:])
		if err != nil {
			at++ // padding or data: better a target too many
			continue
		}
		at += i.Len
		if rel, ok := i.Args[0].(x86asm.Rel); ok && i.Op != x86asm.CALL {
			targets[at+int(rel)] = true
		}
	}
	return targets
}
