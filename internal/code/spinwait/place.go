package spinwait

import "golang.org/x/arch/x86/x86asm"

// place is a part of the state that an iteration can carry to the next. The first places are three
// parts of each register (its first byte, its second, the rest); the others are bytes of stack
// slots, in the order in which the analysis meets them.
type place int

const (
	partsOfReg = 3
	slotPlaces = 16 * partsOfReg
)

// register returns a general register's number, and which parts of it are meant: bit 0 is the first
// byte, bit 1 the second, bit 2 the rest.
func register(r x86asm.Reg) (n int, parts int, ok bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH), 2, true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return int(r-x86asm.SPB) + 4, 1, true
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return int(r-x86asm.R8B) + 8, 1, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 3, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 7, true // the upper half is zeroed
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 7, true
	}
	return 0, 0, false
}

// The numbers of some registers.
const (
	regAX  = 0
	regBX  = 3
	regSP  = 4
	regBP  = 5
	regR12 = 12
)

// frameAddr is an address in the stack frame: a distance from a register that the loop does not
// change.
type frameAddr struct {
	known bool
	base  x86asm.Reg
	disp  int64
}

// slotByte is one byte of a stack slot.
type slotByte struct {
	base x86asm.Reg
	disp int64
}

// bits is a set of places.
type bits [8]uint64

func (b *bits) has(p place) bool { return b[p>>6]&(1<<(p&63)) != 0 }
func (b *bits) add(p place)      { b[p>>6] |= 1 << (p & 63) }
func (b *bits) remove(p place)   { b[p>>6] &^= 1 << (p & 63) }

// maxPlaces bounds the places. A loop that needs more is no wait.
const maxPlaces = place(len(bits{}) * 64)
