package experiment

import "whatif/internal/ledger"

// Where threads wait busily nobody tells the kernel who lets whom go on. What they owe then is known to the next tick only, and a lock that is held for less than that
// is taken by who should not have it yet. So ticks come more often once at least so many of experiments' samples, and so many percent, have met somebody who waits so. A tick costs 10 to 40 us.
const (
	leastBusy   = 20
	busyPercent = 2
)

// busyWaits is how much of experiments' samples met threads that wait busily.
type busyWaits struct{ busy, samples int64 }

func (b *busyWaits) add(d ledger.Totals) {
	b.busy += d.Busy
	b.samples += d.Samples
}

func (b *busyWaits) many() bool {
	return b.busy >= leastBusy && 100*b.busy >= busyPercent*b.samples
}

// refine has ticks come more often, from the next experiment on, where that is worth it. Not where a period was asked for; nor where nothing is sped up, as nobody owes
// anything then; nor on the whole machine, where all pay for it and few wait so.
func (s *session) refine() {
	if s.cfg.Finer && s.cfg.speedsUp() && !s.cfg.System && s.ledger.Ticks() == 1 && s.busyWaits.many() {
		s.ledger.Refine()
	}
}
