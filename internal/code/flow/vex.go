package flow

// vexLength returns the length of an instruction with a VEX or EVEX prefix (AVX, AVX-512), which
// x86asm does not know; 0 if the code does not begin with one. No such instruction jumps.
func vexLength(code []byte) int {
	var prefix, space int // the prefix's length, and the map of opcodes that it chooses
	switch {
	case len(code) < 4:
		return 0
	case code[0] == 0xc5:
		prefix, space = 2, 1
	case code[0] == 0xc4:
		prefix, space = 3, int(code[1]&0x1f)
	case code[0] == 0x62:
		prefix, space = 4, int(code[1]&7)
	default:
		return 0
	}
	n := prefix + 1
	if len(code) <= n {
		return 0
	}
	opcode := code[prefix]
	if space == 1 && opcode == 0x77 { // vzeroupper, the only one without operands
		return n
	}
	modrm := code[n]
	n++
	mode, rm := modrm>>6, modrm&7
	if mode != 3 {
		base := rm
		if rm == 4 {
			if len(code) <= n {
				return 0
			}
			base = code[n] & 7 // of the SIB byte
			n++
		}
		switch {
		case mode == 1:
			n++
		case mode == 2 || mode == 0 && base == 5:
			n += 4
		}
	}
	if space == 3 || space == 1 && vexImmediate[opcode] {
		n++
	}
	if n > len(code) || n > 15 {
		return 0
	}
	return n
}

// vexImmediate has the opcodes of the two-byte map that end in a byte of data: shuffles, shifts,
// comparisons, inserts and extracts.
var vexImmediate = map[byte]bool{
	0x70: true, 0x71: true, 0x72: true, 0x73: true, 0xc2: true, 0xc4: true, 0xc5: true, 0xc6: true,
}
