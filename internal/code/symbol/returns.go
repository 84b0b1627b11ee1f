package symbol

import (
	"debug/elf"
	"fmt"
	"path"
	"slices"

	"whatif/internal/code/flow"
)

// Returns returns the offsets in the file of a function's return instructions. It knows x86-64 and arm64,
// and returns none for other processors.
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

// ReturnLines returns the lines, as FILE:LINE, on which a function returns.
func (b *Binary) ReturnLines(f Func) (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	defer guard("looking for returns", &err)()
	for _, at := range b.returns(f) {
		frames := b.framesAt(at)
		if len(frames) == 0 || frames[0].Line == 0 {
			continue
		}
		l := fmt.Sprintf("%s:%d", path.Base(frames[0].File), frames[0].Line)
		if !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// returns returns the addresses of a function's return instructions.
func (b *Binary) returns(f Func) []uint64 {
	addr, ok := b.address(f.FileOffset)
	if !ok || f.Size > flow.MaxCode {
		return nil
	}
	code := b.bytesAt(addr, f.Size)
	switch b.elf.Machine {
	case elf.EM_X86_64:
		return flow.New(addr, []flow.Code{{Addr: addr, Bytes: code}}, nil).Returns()
	case elf.EM_AARCH64:
		return flow.ReturnsARM64(addr, code)
	}
	return nil
}
