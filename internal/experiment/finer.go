package experiment

import "whatif/internal/ledger"

// Ticks come more often once this many of the experiments' samples, and this many percent, have met a thread that waits
// busily; or once the target's threads have handed over to each other so often, and more than once in each period that
// they ran.
const (
	leastBusy      = 20
	busyPercent    = 2
	leastHandOvers = 200
)

// finerTicks makes ticks come more often where threads let each other go on more than once between two of them. What a
// thread owes is known and paid at ticks, and until then it runs ahead: it takes a lock, a job or a core that another
// one would have had. Where threads wait busily the kernel does not even see the hand-overs. A tick costs 10 to 40 µs.
type finerTicks struct {
	ledger                   *ledger.Ledger
	allowed                  bool
	busy, handOvers, samples int64 // of all experiments so far
}

// newFinerTicks allows finer ticks unless a period was asked for; nothing is sped up, as no thread owes anything then;
// or the whole machine is profiled, as all pay for the ticks and few need them.
func newFinerTicks(l *ledger.Ledger, cfg *Config) *finerTicks {
	return &finerTicks{ledger: l, allowed: cfg.Finer && cfg.speedsUp() && !cfg.System}
}

// add counts the samples of an experiment.
func (f *finerTicks) add(d ledger.Totals) {
	f.busy += d.Busy
	f.handOvers += d.HandOvers
	f.samples += d.Samples
}

// refine makes ticks come more often, from the next experiment on, where that is worth it.
func (f *finerTicks) refine() {
	if f.allowed && f.ledger.Ticks() == 1 && f.needed() {
		f.ledger.Refine()
	}
}

// needed tells whether threads let each other go on more than once between two ticks, or may do so unseen.
func (f *finerTicks) needed() bool {
	return f.busy >= leastBusy && 100*f.busy >= busyPercent*f.samples ||
		f.handOvers >= leastHandOvers && f.handOvers > f.samples
}
