package jit

import (
	"encoding/binary"

	"whatif/internal/code/unwind"
)

// HasFrame reports whether the body is a method that HotSpot has compiled: see FrameRule.
func (b *Body) HasFrame() bool { return b.java }

// Begin is the address of the body's first instruction.
func (b *Body) Begin() uint64 { return b.base }

// MostPrologue is how much of the beginning of a method FrameRule needs: the method's first instructions check the
// receiver's class, and touch the stack further down.
const MostPrologue = 160

// MostHere is how much code from an address on FrameRule needs.
const MostHere = 16

// FrameRule says how to find the caller of a method that HotSpot has compiled for x86-64, at an offset in the method.
// Such code uses rbp like any other register, and has no tables. But behind its first instructions its frame has one
// size, and the caller's rbp is below the return address. begin is the beginning of the method, here the code at the
// offset. Without those instructions nothing is known.
func FrameRule(begin, here []byte, offset uint64) (r unwind.Rule, known bool) {
	p, known := findPrologue(begin)
	if !known {
		return r, false
	}
	switch leaves := leaving(here); {
	case offset <= p.push: // the return address is at rsp
		return cfaAt(8, unwind.Saved{}), true
	case offset < p.end && p.pushes: // rbp was pushed
		return cfaAt(16, unwind.Saved{Where: unwind.AtCFA, Offset: -16}), true
	case offset < p.end: // the frame is there, and rbp still in the register
		return cfaAt(p.size, unwind.Saved{}), true
	case leaves == popsFrame:
		return cfaAt(16, unwind.Saved{Where: unwind.AtCFA, Offset: -16}), true
	case leaves == returns:
		return cfaAt(8, unwind.Saved{}), true
	}
	return cfaAt(p.size, unwind.Saved{Where: unwind.AtCFA, Offset: -16}), true
}

// cfaAt is the rule of code whose CFA is so far above the stack pointer.
func cfaAt(distance int32, fp unwind.Saved) unwind.Rule {
	return unwind.Rule{Kind: unwind.CFA, Base: unwind.SP, Offset: distance, FP: fp,
		BX: unwind.Saved{Where: unwind.Gone}, RA: -8}
}

// prologue is what a method begins with.
type prologue struct {
	push, end uint64 // the offsets of its first instruction, and behind its last one
	pushes    bool   // it begins with push rbp
	size      int32  // of the frame, with the return address
}

// findPrologue looks for one of
//
//	push rbp; [mov rbp, rsp]; sub rsp, N
//	sub rsp, N; mov [rsp + N - 8], rbp
func findPrologue(code []byte) (p prologue, found bool) {
	for i := range code {
		rest := code[i:]
		if rest[0] == 0x55 { // push rbp
			rest = rest[1:]
			if hasBytes(rest, 0x48, 0x8b, 0xec) || hasBytes(rest, 0x48, 0x89, 0xe5) { // mov rbp, rsp
				rest = rest[3:]
			}
			if n, length := subtracts(rest); length > 0 {
				return prologue{uint64(i), uint64(len(code) - len(rest) + length), true, n + 16}, true
			}
			continue
		}
		n, length := subtracts(rest)
		if length == 0 {
			continue
		}
		rest = rest[length:]
		saved := int32(-1)
		size := 0
		switch {
		case len(rest) >= 5 && hasBytes(rest, 0x48, 0x89, 0x6c, 0x24): // mov [rsp + byte], rbp
			saved, size = int32(int8(rest[4])), 5
		case len(rest) >= 8 && hasBytes(rest, 0x48, 0x89, 0xac, 0x24): // mov [rsp + word], rbp
			saved, size = int32(binary.LittleEndian.Uint32(rest[4:])), 8
		}
		if size > 0 && saved == n-8 {
			return prologue{uint64(i), uint64(i + length + size), false, n + 8}, true
		}
	}
	return p, false
}

// mostFrame is more than the frame of any method. A hostile VM can have one rule for each size, and all programs
// together have room for some ten thousands.
const mostFrame = 16 << 10

// subtracts reads sub rsp, N; length 0: it is another instruction.
func subtracts(code []byte) (n int32, length int) {
	switch {
	case len(code) >= 4 && hasBytes(code, 0x48, 0x83, 0xec):
		n, length = int32(int8(code[3])), 4
	case len(code) >= 7 && hasBytes(code, 0x48, 0x81, 0xec):
		n, length = int32(binary.LittleEndian.Uint32(code[3:])), 7
	}
	if n < 0 || n > mostFrame || n%8 != 0 {
		return 0, 0
	}
	return n, length
}

type leave int

const (
	stays leave = iota
	popsFrame
	returns
)

// leaving tells whether code has given up its frame: it pops rbp, looks whether it is to stop (a safepoint poll), and
// returns.
func leaving(code []byte) leave {
	switch {
	case len(code) > 1 && code[0] == 0x5d && (isReturn(code[1:]) || isPoll(code[1:])):
		return popsFrame
	case isReturn(code) || isPoll(code):
		return returns
	}
	return stays
}

func isReturn(code []byte) bool { return hasBytes(code, 0xc3) }

// isPoll recognises what comes before a return: cmp rsp, [r15 + N]; ja, from either of both instructions on, or, in
// older VMs, test [rip + N], eax, or test [r10], eax.
func isPoll(code []byte) bool {
	switch {
	case hasBytes(code, 0x85, 0x05):
		return len(code) > 6 && isReturn(code[6:])
	case hasBytes(code, 0x41, 0x85, 0x02):
		return isReturn(code[3:])
	case hasBytes(code, 0x49, 0x3b, 0xa7):
		code = code[min(7, len(code)):]
	case hasBytes(code, 0x49, 0x3b, 0x67):
		code = code[min(4, len(code)):]
	}
	return hasBytes(code, 0x0f, 0x87) && len(code) > 6 && isReturn(code[6:])
}

// hasBytes reports whether code begins with these bytes.
func hasBytes(code []byte, bytes ...byte) bool {
	return len(code) >= len(bytes) && string(code[:len(bytes)]) == string(bytes)
}
