package spinwait

import (
	"bytes"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Yielders are the names of functions that yield the core and do nothing else.
var Yielders = []string{"sched_yield", "__sched_yield", "thrd_yield", "pthread_yield"}

// pollers are the names of other functions that only wait, although their code looks like work. Open
// MPI's opal_progress asks one part of the library after the other whether something has arrived. The
// others yield the core, or pause, in loops that wait.
var pollers = []string{
	"opal_progress", "runtime.osyield", "runtime.osyield.abi0", "runtime.procyield", "runtime.procyield.abi0",
}

// IsPoller reports whether all time in the function of a name is waiting.
func IsPoller(name string) bool {
	return slices.Contains(Yielders, name) || slices.Contains(pollers, name)
}

// Wrapped returns the function that a stub or wrapper calls or jumps to, ok if the code does nothing
// else. code is the wrapper's machine code, loaded at addr; WrapperSize bytes are enough.
func Wrapped(code []byte, addr uint64) (c Callee, ok bool) {
	const most = 8 // instructions of a wrapper
	called := false
	for range most {
		// ENDBR64, which the decoder does not know.
		if endbr := []byte{0xf3, 0x0f, 0x1e, 0xfa}; bytes.HasPrefix(code, endbr) {
			code, addr = code[len(endbr):], addr+uint64(len(endbr))
		}
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return c, false
		}
		code, addr = code[inst.Len:], addr+uint64(inst.Len)
		switch {
		case inst.Op == x86asm.RET:
			return c, called
		case inst.Op == x86asm.JMP || inst.Op == x86asm.CALL:
			if called {
				return c, false
			}
			if c, ok = calleeOf(&inst, addr); !ok || inst.Op == x86asm.JMP {
				return c, ok
			}
			called = true
		case !keepsFrame(&inst):
			return c, false
		}
	}
	return c, false
}

// WrapperSize is the size of the longest wrapper, in bytes. A longer function does more.
const WrapperSize = 64

// keepsFrame reports whether an instruction only sets up the stack frame, or removes it.
func keepsFrame(inst *x86asm.Inst) bool {
	_, register := inst.Args[0].(x86asm.Reg)
	_, constant := inst.Args[1].(x86asm.Imm)
	switch inst.Op {
	case x86asm.NOP, x86asm.LEAVE:
		return true
	case x86asm.PUSH, x86asm.POP:
		return register
	case x86asm.ADD, x86asm.SUB:
		return inst.Args[0] == x86asm.RSP && constant
	case x86asm.MOV:
		return inst.Args[0] == x86asm.RBP && inst.Args[1] == x86asm.RSP
	}
	return false
}
