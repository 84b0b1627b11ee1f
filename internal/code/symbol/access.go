package symbol

import (
	"debug/elf"
	"fmt"
	"math"

	"whatif/internal/code/flow"
)

// Access tells whether an access of memory ends right before the instruction at an offset in the file, and for which
// share of the instructions of its innermost loop that is so: see flow.Accesses. share is -1 where that is not known.
func (b *Binary) Access(fileOffset uint64) (behind bool, share float64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for an access of memory at %s+%#x", b.path, fileOffset)
	if b.closed {
		return false, -1, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	addr, ok := b.address(fileOffset)
	arm64 := b.elf.Machine == elf.EM_AARCH64
	if !ok || !arm64 && b.elf.Machine != elf.EM_X86_64 {
		return false, -1, nil
	}
	start, end, ok := b.around(addr)
	if !ok {
		return false, -1, nil
	}
	if end == math.MaxUint64 { // it is not known: up to a little behind the address
		const ahead = 1 << 12
		end = addr + ahead
	}
	if end-start > flow.MaxCode {
		return false, -1, nil
	}
	a, known := b.accesses[start]
	if !known || a.end < end {
		if b.accesses == nil || len(b.accesses) >= maxAccesses {
			b.accesses = map[uint64]accesses{}
		}
		a = accesses{flow.NewAccesses(b.bytesAt(start, end-start), start, arm64), end}
		b.accesses[start] = a
	}
	if behind, share, ok = a.At(addr); !ok {
		share = -1
	}
	return behind, share, nil
}

// accesses are those of a function, up to an address.
type accesses struct {
	*flow.Accesses
	end uint64
}

// maxAccesses bounds the functions of which the accesses are kept.
const maxAccesses = 1 << 10
