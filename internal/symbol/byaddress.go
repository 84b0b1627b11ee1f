package symbol

import "fmt"

// FramesAt is Frames by an address as the ELF file has it, for images that are
// not mapped from their file: the kernel's.
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

// Address is where the ELF file has a symbol of code.
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

// Named is a frame of which only the symbol is known.
func Named(symbol string) Frame {
	n := namesOf(symbol, false)
	return Frame{Func: n.full, Short: n.short}
}
