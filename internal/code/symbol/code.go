package symbol

// Code returns up to n bytes of code at an offset in the file, nil if there is none. The bytes must not
// be changed, nor used after Close.
func (b *Binary) Code(fileOffset, n uint64) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	addr, ok := b.address(fileOffset)
	if b.closed || !ok {
		return nil
	}
	return b.bytesAt(addr, n)
}
