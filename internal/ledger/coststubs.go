//go:build amd64 || arm64

package ledger

// cost_GOARCH.s has functions whose first instruction, under a probe, the kernel emulates or runs in a single step.
// With the long no-op it does either. call... calls the function n times, ...PC is the function's address.

func callEmulated(n int)
func callStepped(n int)
func callLongNop(n int)
func emulatedPC() uint64
func steppedPC() uint64
func longNopPC() uint64
