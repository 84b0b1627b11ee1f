package symbol

import (
	"debug/elf"
	"encoding/binary"

	"whatif/internal/flow"
)

// Returns gives the offsets in the file of the instructions that a function returns with; none where
// the processor's code is not known.
func (b *Binary) Returns(f Func) (offsets []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	defer guard("looking for returns", &err)()
	for _, at := range b.returns(f) {
		if offset, ok := b.offset(at); ok {
			offsets = append(offsets, offset)
		}
	}
	return offsets
}

// returns gives their addresses.
func (b *Binary) returns(f Func) []uint64 {
	addr, ok := b.address(f.FileOffset)
	if !ok || f.Size > maxFlow {
		return nil
	}
	code := b.bytesAt(addr, f.Size)
	switch b.elf.Machine {
	case elf.EM_X86_64:
		return flow.New(addr, []flow.Code{{Addr: addr, Bytes: code}}, nil).Returns()
	case elf.EM_AARCH64:
		return returnsARM64(addr, code)
	}
	return nil
}

// returnsARM64 looks for ret: to what the link register says.
func returnsARM64(addr uint64, code []byte) (at []uint64) {
	const size, ret = 4, 0xd65f03c0
	for ; len(code) >= size; addr, code = addr+size, code[size:] {
		if binary.LittleEndian.Uint32(code) == ret {
			at = append(at, addr)
		}
	}
	return at
}
