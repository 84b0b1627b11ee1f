//go:build amd64 || arm64

package ledger

// In cost_GOARCH.s: functions whose first instruction the kernel emulates under a
// probe, or runs in a single step; and loops that call them n times.

func callEmulated(n int)
func callStepped(n int)
func emulatedPC() uint64
func steppedPC() uint64
