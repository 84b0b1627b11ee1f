//go:build amd64 || arm64

package ledger

// In cost_GOARCH.s: functions whose first instruction the kernel emulates under a
// probe, or runs in a single step, or one of both, if it is a long no-op; and loops that call them n times.

func callEmulated(n int)
func callStepped(n int)
func callLongNop(n int)
func emulatedPC() uint64
func steppedPC() uint64
func longNopPC() uint64
