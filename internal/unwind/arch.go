package unwind

import "debug/elf"

// arch is how a processor numbers its registers in DWARF.
type arch struct {
	sp, fp, bx, ra uint64
	ip             uint64 // the number that stands for the instruction's own address
}

const noRegister = ^uint64(0)

var arches = map[elf.Machine]*arch{
	elf.EM_X86_64: {sp: 7, fp: 6, bx: 3, ra: 16, ip: 16},
	// The return address is in x30, the link register, until it is saved.
	elf.EM_AARCH64: {sp: 31, fp: 29, bx: noRegister, ra: 30, ip: noRegister},
}

// base names a register; NoBase if it has a number that cannot be.
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

// registers that are followed.
const (
	fp = iota
	bx
	ra
	followed
)

// slot is the place of a register among those that are followed; -1 for others.
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
