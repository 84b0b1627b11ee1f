package probes

import (
	"debug/elf"
	"fmt"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
)

// The registers in which functions are given their arguments, by DWARF number.
var (
	argumentsAMD64   = []int{5, 4, 1, 2, 8, 9}
	argumentsARM64   = []int{0, 1, 2, 3, 4, 5}
	argumentsGoAMD64 = []int{0, 3, 2, 5, 4, 8}
)

// The registers in which Go keeps the goroutine that runs, by DWARF number.
const (
	goroutineAMD64 = 14
	goroutineARM64 = 28
)

// keyAt is where a probe on a function finds its key: what tells which begin an end belongs to. The function begins at
// an offset in a binary. The key is in one of its arguments, counted in words from 1. Without an argument (0) the
// thread is the key, but in Go the goroutine: it changes threads while it waits.
func keyAt(b *symbol.Binary, offset uint64, argument int) (ledger.Key, error) {
	var arguments []int
	goroutine, isGo := goroutineAMD64, b.IsGoCode(offset) // C may be linked with Go
	switch m := b.Machine(); {
	case m == elf.EM_X86_64 && isGo:
		arguments = argumentsGoAMD64
	case m == elf.EM_X86_64:
		arguments = argumentsAMD64
	case m == elf.EM_AARCH64:
		arguments, goroutine = argumentsARM64, goroutineARM64
	default:
		return 0, fmt.Errorf("looking for arguments in %s: code for %v, of which the calling convention is not known",
			b.Path(), m)
	}
	switch {
	case argument > 0:
		return ledger.KeyIn(arguments[argument-1]), nil
	case isGo:
		return ledger.KeyIn(goroutine), nil
	}
	return 0, nil
}
