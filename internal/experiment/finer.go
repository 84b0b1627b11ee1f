package experiment

// Where threads wait busily nobody tells the kernel who lets whom go on. What they owe then is known to the next tick only, and a lock that is held for less than that
// is taken by who should not have it yet. So ticks come more often once at least so many, and so many percent, have met somebody who waits so. A tick costs 10 to 40 us.
const (
	finerTimes   = 4
	leastSpins   = 20
	spinsPercent = 2
)

// refine has ticks come more often, from the next experiment on, where that is worth it; not where a period was asked for.
func (s *session) refine() {
	if s.ledger.Ticks() != 0 || !s.cfg.Finer || s.cfg.Rests() {
		return
	}
	spins := s.ledger.Spins()
	if spins < leastSpins || 100*spins < spinsPercent*s.totals.Samples {
		return
	}
	s.ledger.Refine(finerTimes, s.units.count())
}
