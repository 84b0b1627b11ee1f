package flow

import "encoding/binary"

// ReturnsARM64 returns the addresses of the instructions ret, which return to the link register's
// address, in arm64 code at an address.
func ReturnsARM64(addr uint64, code []byte) (at []uint64) {
	const size, ret = 4, 0xd65f03c0
	for ; len(code) >= size; addr, code = addr+size, code[size:] {
		if binary.LittleEndian.Uint32(code) == ret {
			at = append(at, addr)
		}
	}
	return at
}
