package ledger

import (
	"iter"

	"whatif/bpf"
	"whatif/internal/profile"
)

// lossNames are the names of the losses that the kernel side counts.
var lossNames = map[bpf.LedgerLoss]string{
	bpf.LedgerLossLOSS_THREAD:    "threads not followed",
	bpf.LedgerLossLOSS_PROCESS:   "processes not counted",
	bpf.LedgerLossLOSS_EVENT:     "events that did not fit in the ring",
	bpf.LedgerLossLOSS_STACK:     profile.LossStack,
	bpf.LedgerLossLOSS_MAPPING:   "mappings busy",
	bpf.LedgerLossLOSS_CODE:      "places that did not fit in the table",
	bpf.LedgerLossLOSS_CAPPED:    "stops cut short",
	bpf.LedgerLossLOSS_TIMER:     "ticks of the sampling clock",
	bpf.LedgerLossLOSS_CPU:       "events on CPUs beyond the supported number",
	bpf.LedgerLossLOSS_COUNTERS:  "progress points of the source that were too many",
	bpf.LedgerLossLOSS_TABLE:     profile.LossTable,
	bpf.LedgerLossLOSS_PLACE:     profile.LossPlace,
	bpf.LedgerLossLOSS_SPAN:      "begins not remembered",
	bpf.LedgerLossLOSS_LAST:      "processes whose last visits were not read",
	bpf.LedgerLossLOSS_KERNEL:    "samples without a stack in the kernel",
	bpf.LedgerLossLOSS_GOROUTINE: "sleeps of goroutines that were too many at once",
}

// Losses are the names and the counts of the losses that are not zero.
func (t Totals) Losses() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for kind, name := range lossNames {
			if n := t.Lost[kind]; n != 0 && !yield(name, n) {
				return
			}
		}
	}
}

// MissedEvents is the name of the loss that Missed counts.
const MissedEvents = "events met within events"
