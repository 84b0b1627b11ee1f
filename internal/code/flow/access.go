package flow

import (
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Accesses says of the instructions of a function where a core is met that waits for memory, other than the stack and
// constants beside the code. A core that waits for an access has it at the head of its queue. An interrupt comes when
// the access is done, so it meets the instruction behind it.
type Accesses struct {
	addrs  []uint64
	behind []bool // it is behind an access, in one of the orders in which instructions run
	loops  [][2]int32
}

// An instruction as far as Accesses needs it.
type step struct {
	addr     uint64
	accesses bool
	again    bool // it is repeated until it is done: an interrupt meets it itself
	compares bool // a branch behind it is one operation with it
	branches bool // to target, on a condition
	ends     bool // nothing follows
	target   uint64
	size     uint8
}

// NewAccesses decodes a function that begins at start.
func NewAccesses(code []byte, start uint64, arm64 bool) *Accesses {
	var steps []step
	for at := 0; at < len(code) && len(steps) < maxInstructions; {
		s := stepOf(code[at:], start+uint64(at), arm64)
		steps = append(steps, s)
		at += int(s.size)
	}
	a := &Accesses{addrs: make([]uint64, len(steps)), behind: make([]bool, len(steps))}
	for i := range steps {
		a.addrs[i] = steps[i].addr
	}
	ends := func(i int) bool { // an access ends when i does
		return steps[i].accesses || steps[i].branches && i > 0 && steps[i-1].compares && steps[i-1].accesses
	}
	for i := range steps {
		s := &steps[i]
		if i+1 < len(steps) && !s.ends && ends(i) {
			a.behind[i+1] = true
		}
		a.behind[i] = a.behind[i] || s.again && s.accesses
		to, found := slices.BinarySearch(a.addrs, s.target)
		if s.target == 0 || !found {
			continue
		}
		if ends(i) {
			a.behind[to] = true
		}
		if to <= i {
			a.loops = append(a.loops, [2]int32{int32(to), int32(i)})
		}
	}
	return a
}

// nearby is how many instructions on each side of one in no loop are compared with it.
const nearby = 16

// At tells of the instruction at an address whether a core is met there that waits for memory, and for which share of
// the instructions of its innermost loop that is so. ok is false where there is no instruction.
func (a *Accesses) At(addr uint64) (behind bool, share float64, ok bool) {
	i, found := slices.BinarySearch(a.addrs, addr)
	if !found {
		return false, 0, false
	}
	from, to := max(0, i-nearby), min(len(a.addrs)-1, i+nearby)
	for _, l := range a.loops {
		if int(l[0]) <= i && i <= int(l[1]) && int(l[1]-l[0]) < to-from {
			from, to = int(l[0]), int(l[1])
		}
	}
	n := 0
	for _, b := range a.behind[from : to+1] {
		if b {
			n++
		}
	}
	return a.behind[i], float64(n) / float64(to+1-from), true
}

func stepOf(code []byte, addr uint64, arm64 bool) step {
	if arm64 {
		return stepARM64(code, addr)
	}
	i, rel, ok := decode(code)
	s := step{addr: addr, size: i.size}
	if !ok {
		return s
	}
	s.ends = i.kind == jump || i.kind == indirect || i.kind == end
	s.branches = i.kind == branch
	if i.kind == branch || i.kind == jump {
		s.target = addr + uint64(i.size) + uint64(rel)
	}
	if vexLength(code) > 0 {
		s.accesses = vexAccesses(code)
		return s
	}
	x, err := x86asm.Decode(code, 64)
	if err != nil {
		return s
	}
	switch x.Op {
	case x86asm.LEA, x86asm.NOP, x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2,
		x86asm.PREFETCHW:
		return s
	case x86asm.CMP, x86asm.TEST:
		s.compares = true
	}
	s.again = slices.Contains(repeated, x.Op)
	for _, arg := range x.Args {
		if m, is := arg.(x86asm.Mem); is && !isStack(m) {
			s.accesses = true
		}
	}
	return s
}

// repeated are the instructions on strings.
var repeated = []x86asm.Op{x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW,
	x86asm.STOSD, x86asm.STOSQ, x86asm.SCASB, x86asm.CMPSB, x86asm.LODSB}

// isStack tells whether an operand is on the stack, or beside the code. RBP is a frame pointer where it leads down.
func isStack(m x86asm.Mem) bool {
	switch m.Base {
	case x86asm.RSP, x86asm.RIP:
		return true
	case x86asm.RBP:
		return m.Index == 0 && m.Disp < 0
	}
	return false
}

// vexAccesses tells whether an instruction with a VEX or EVEX prefix accesses memory.
func vexAccesses(code []byte) bool {
	prefix := 2
	switch code[0] {
	case 0xc4:
		prefix = 3
	case 0x62:
		prefix = 4
	}
	if len(code) < prefix+3 || prefix != 4 && code[prefix] == 0x77 {
		return false
	}
	modrm := code[prefix+1]
	mode, rm := modrm>>6, modrm&7
	if mode == 3 || mode == 0 && rm == 5 { // registers; beside the code
		return false
	}
	// The bit that makes RSP another register is inverted, in the byte behind the first one. Two bytes have none.
	extended := prefix > 2 && code[1]&0x20 == 0
	return rm != 4 || code[prefix+2]&7 != 4 || extended
}

// stepARM64 reads an instruction by the fields of its encoding.
func stepARM64(code []byte, addr uint64) step {
	s := step{addr: addr, size: 4}
	if len(code) < 4 {
		s.size = uint8(len(code))
		return s
	}
	word := binary.LittleEndian.Uint32(code)
	// to is the target that the bits from low on have, as many as there are in a field.
	to := func(low, bits int) uint64 {
		distance := int64(int32(word<<(32-low-bits))>>(32-bits)) * 4
		return addr + uint64(distance)
	}
	const stackPointer, prefetch = 31, 0xf9800000
	switch {
	case word&0x0a000000 == 0x08000000: // loads and stores
		literal := word&0x3b000000 == 0x18000000
		s.accesses = !literal && word>>5&31 != stackPointer && word&0xffc00000 != prefetch
	case word&0xfc000000 == 0x14000000: // b
		s.target, s.ends = to(0, 26), true
	case word&0xff000010 == 0x54000000, word&0x7e000000 == 0x34000000: // b.cond; cbz, cbnz
		s.target, s.branches = to(5, 19), true
	case word&0x7e000000 == 0x36000000: // tbz, tbnz
		s.target, s.branches = to(5, 14), true
	case word&0xfffffc1f == 0xd65f0000, word&0xfffffc1f == 0xd61f0000: // ret, br
		s.ends = true
	}
	return s
}
