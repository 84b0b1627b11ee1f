package ledger

import (
	"time"

	"whatif/bpf"
)

// Changes are by how much levels changed, for each reason of the kernel side (enum why).
type Changes [bpf.LedgerWhyWHY_MAX]time.Duration

// reasons are the names of the reasons in profiles. So they never change.
var reasons = map[bpf.LedgerWhy]string{
	bpf.LedgerWhyWHY_EARNED:         "earned",
	bpf.LedgerWhyWHY_WAIT_SPED_UP:   "wait sped up",
	bpf.LedgerWhyWHY_EXPECTED:       "expected",
	bpf.LedgerWhyWHY_MEASURED:       "measuring",
	bpf.LedgerWhyWHY_STOPPED:        "stopped",
	bpf.LedgerWhyWHY_RETURN_DELAYED: "return delayed",
	bpf.LedgerWhyWHY_WAITED:         "waited",
	bpf.LedgerWhyWHY_WAITED_CORE:    "waited for a core",
	bpf.LedgerWhyWHY_SPUN:           "waited busily",
	bpf.LedgerWhyWHY_POLLED:         "polled",
	bpf.LedgerWhyWHY_PERIODIC:       "periodic",
	bpf.LedgerWhyWHY_GOROUTINE:      "next goroutine",
	bpf.LedgerWhyWHY_HOST_IDLE:      "no goroutine",
	bpf.LedgerWhyWHY_SET_BACK:       "set back",
	bpf.LedgerWhyWHY_STALLED:        "host kept core",
	bpf.LedgerWhyWHY_CAUGHT:         "woken early",
}

// ByReason are the changes that are not zero, in nanoseconds.
func (c *Changes) ByReason() map[string]int64 {
	var all map[string]int64
	for why, name := range reasons {
		if c[why] == 0 {
			continue
		}
		if all == nil {
			all = make(map[string]int64)
		}
		all[name] = int64(c[why])
	}
	return all
}
