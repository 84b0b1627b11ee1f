package ledger

import "whatif/bpf"

const sampleParts = int64(bpf.LedgerSharedNumberNUMBER_SAMPLE_PARTS)

// Refine has ticks come as often as they can, from now on. A sample counts for as much less: samples are in periods that were asked for, before and after.
func (l *Ledger) Refine() {
	store(&l.page.control.Parts, 1)
	store(&l.page.control.Period, load(&l.page.control.AskedPeriod)/uint64(sampleParts))
}

// Ticks is how many come in each period that was asked for.
func (l *Ledger) Ticks() int { return int(uint64(sampleParts) / load(&l.page.control.Parts)) }
