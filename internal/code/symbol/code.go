package symbol

import "bytes"

// maxCopied bounds the code that Code returns.
const maxCopied = 1 << 18

// Code returns a copy of up to n bytes of code at an offset in the file, nil if there is none. It returns at most
// maxCopied bytes.
func (b *Binary) Code(fileOffset, n uint64) (code []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	defer guard("reading code", &err)()
	addr, ok := b.address(fileOffset)
	if !ok {
		return nil
	}
	return bytes.Clone(b.bytesAt(addr, min(n, maxCopied)))
}
