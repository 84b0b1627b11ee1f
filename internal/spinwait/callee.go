package spinwait

import "golang.org/x/arch/x86/x86asm"

// Callee is what a call or a jump leads to: the function at Addr or, where InTable, the one whose address is kept there, as
// the loader does in the GOT.
type Callee struct {
	Addr    uint64
	InTable bool
}

// CalleeOf gives what an instruction that ends at an address leads to, if it says so without a register.
func CalleeOf(inst *x86asm.Inst, end uint64) (Callee, bool) {
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

// callee gives what a call leads to. Compilers load the address before the loop: then nothing else may be loaded into that register.
func (f *function) callee(call int) (c Callee, known bool) {
	r, ok := f.insts[call].Args[0].(x86asm.Reg)
	if !ok {
		return CalleeOf(&f.insts[call], f.after(call))
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

// keptByCalls: those of a register's numbers that are not of scratch, nor the stack pointer's.
func keptByCalls(n int) bool { return n == regBX || n == regBP || n >= regR12 }

// mayWrite reports whether an instruction may write a register that calls keep; that it is given back at the function's end does not count.
func mayWrite(inst *x86asm.Inst, n int) bool {
	switch inst.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.PUSH, x86asm.POP, x86asm.CALL, x86asm.JMP, x86asm.LEAVE:
		return false
	case x86asm.CPUID:
		return true
	}
	for _, a := range inst.Args[:2] {
		if r, ok := a.(x86asm.Reg); ok {
			if m, _, known := register(r); known && m == n && (a == inst.Args[0] || inst.Op == x86asm.XCHG || inst.Op == x86asm.XADD) {
				return true
			}
		}
	}
	return false
}
