package experiment

import (
	"debug/elf"
	"fmt"

	"whatif/internal/ledger"
	"whatif/internal/symbol"
)

// The registers, by DWARF number, in which functions are given their arguments, and
// in which Go keeps what goroutine runs.
var (
	argumentsAMD64   = []int{5, 4, 1, 2, 8, 9}
	argumentsARM64   = []int{0, 1, 2, 3, 4, 5}
	argumentsGoAMD64 = []int{0, 3, 2, 5, 4, 8}
)

const (
	goroutineAMD64 = 14
	goroutineARM64 = 28
)

// keyAt is where a probe on a function, which begins at an offset in a binary, finds what
// tells which begin an end belongs to: in the function's argument, counted in words from
// 1; without one (0) it is the thread, but in Go the goroutine, which changes threads while it waits.
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
		return 0, fmt.Errorf("looking for arguments in %s: code for %v, of which the calling convention is not known", b.Path(), m)
	}
	switch {
	case argument > 0:
		return ledger.KeyIn(arguments[argument-1]), nil
	case isGo:
		return ledger.KeyIn(goroutine), nil
	}
	return 0, nil
}
