package spinwait

import "golang.org/x/arch/x86/x86asm"

// Callee is the target of a call or a jump: the function at Addr. With InTable, Addr is the address of a
// pointer to the function, as in the GOT.
type Callee struct {
	Addr    uint64
	InTable bool
}

// calleeOf returns the target of an instruction that ends at an address, unless a register has it.
func calleeOf(inst *x86asm.Inst, end uint64) (Callee, bool) {
	switch to := inst.Args[0].(type) {
	case x86asm.Rel:
		return Callee{Addr: end + uint64(int64(to))}, true
	case x86asm.Mem:
		return inTable(to, end)
	}
	return Callee{}, false
}

func inTable(m x86asm.Mem, end uint64) (Callee, bool) {
	return Callee{Addr: end + uint64(m.Disp), InTable: true}, m.Base == x86asm.RIP && m.Index == 0
}

// callee returns the target of a call. A compiler may load the address into a register before the
// loop; then the target is known if nothing else is loaded into that register.
func (f *function) callee(call int) (c Callee, known bool) {
	r, ok := f.insts[call].Args[0].(x86asm.Reg)
	if !ok {
		return calleeOf(&f.insts[call], f.after(call))
	}
	n, _, ok := register(r)
	if !ok || !keptByCalls(n) {
		return Callee{}, false
	}
	for i := range f.insts {
		inst := &f.insts[i]
		if !mayWrite(inst, n) {
			continue
		}
		from, ok := inst.Args[1].(x86asm.Mem)
		if !ok || inst.Op != x86asm.MOV {
			return Callee{}, false
		}
		loaded, ok := inTable(from, f.after(i))
		if !ok || known && loaded != c {
			return Callee{}, false
		}
		c, known = loaded, true
	}
	return c, known
}

// keptByCalls reports whether calls keep a register's value; the stack pointer does not count.
func keptByCalls(n int) bool { return n == regBX || n == regBP || n >= regR12 }

// mayWrite reports whether an instruction may write a register that calls keep. A POP, which restores
// the register at the function's end, does not count.
func mayWrite(inst *x86asm.Inst, n int) bool {
	switch inst.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.POP, x86asm.CALL, x86asm.JMP, x86asm.LEAVE:
		return false
	case x86asm.CPUID:
		return true
	}
	for _, a := range inst.Args[:2] {
		r, ok := a.(x86asm.Reg)
		if !ok || a != inst.Args[0] && inst.Op != x86asm.XCHG && inst.Op != x86asm.XADD {
			continue
		}
		if m, _, known := register(r); known && m == n {
			return true
		}
	}
	return false
}
