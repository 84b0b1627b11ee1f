package experiment

import "whatif/internal/ledger"

// Ticks come more often once this many of the experiments' samples, and this many percent, have met a thread that waits
// busily.
const (
	leastBusy   = 20
	busyPercent = 2
)

// finerTicks makes ticks come more often where threads wait busily. The kernel does not see which thread lets another
// one continue there. What they owe is known at the next tick only, and a lock that is held for less than that is taken
// by a thread that should not have it yet. A tick costs 10 to 40 µs.
type finerTicks struct {
	ledger        *ledger.Ledger
	allowed       bool
	busy, samples int64 // of all experiments so far
}

// newFinerTicks allows finer ticks unless a period was asked for; nothing is sped up, as no thread owes anything then;
// or the whole machine is profiled, as all pay for the ticks and few wait busily.
func newFinerTicks(l *ledger.Ledger, cfg *Config) *finerTicks {
	return &finerTicks{ledger: l, allowed: cfg.Finer && cfg.speedsUp() && !cfg.System}
}

// add counts the samples of an experiment.
func (f *finerTicks) add(d ledger.Totals) {
	f.busy += d.Busy
	f.samples += d.Samples
}

// refine makes ticks come more often, from the next experiment on, where that is worth it.
func (f *finerTicks) refine() {
	many := f.busy >= leastBusy && 100*f.busy >= busyPercent*f.samples
	if f.allowed && f.ledger.Ticks() == 1 && many {
		f.ledger.Refine()
	}
}
