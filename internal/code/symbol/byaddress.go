package symbol

import "fmt"

// FramesAt is Frames for an address of the ELF file instead of an offset. It is for the kernel's
// image, which is not mapped from its file.
func (b *Binary) FramesAt(addr uint64) (frames []Frame, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("resolving %s at %#x", b.path, addr)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	return b.framesAt(addr), nil
}

// Address returns the ELF file's address of a code symbol.
func (b *Binary) Address(symbol string) (addr uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, false
	}
	var err error
	defer guard("looking for "+symbol, &err)()
	t := b.symbolTable()
	for _, x := range t.all {
		if t.name(x) == symbol {
			return x.addr, true
		}
	}
	return 0, false
}

// FrameOfSymbol returns a frame of which only the symbol is known.
func FrameOfSymbol(symbol string) Frame {
	n := namesOf(symbol, false)
	return Frame{Func: n.full, Short: n.short}
}
