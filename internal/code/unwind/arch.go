package unwind

import "debug/elf"

// arch has the DWARF numbers of a processor's registers.
type arch struct {
	sp, fp, bx, ra uint64
	ip             uint64 // stands for the instruction's own address
}

const noRegister = ^uint64(0)

var arches = map[elf.Machine]*arch{
	elf.EM_X86_64: {sp: 7, fp: 6, bx: 3, ra: 16, ip: 16},
	// x30, the link register, has the return address until the function saves it.
	elf.EM_AARCH64: {sp: 31, fp: 29, bx: noRegister, ra: 30, ip: noRegister},
}

// base returns the Base for a register's number, NoBase if there is no such register.
func (a *arch) base(register uint64) Base {
	switch {
	case register == a.sp:
		return SP
	case register == a.fp:
		return FP
	case register == a.bx:
		return BX
	case register < 32:
		return Other + Base(register)
	}
	return NoBase
}

// The registers that are followed up the stack.
const (
	fp = iota
	bx
	ra
	followed
)

// slot returns the index of a register among those that are followed, -1 for others.
func (a *arch) slot(register uint64) int {
	switch register {
	case a.fp:
		return fp
	case a.bx:
		return bx
	case a.ra:
		return ra
	}
	return -1
}
