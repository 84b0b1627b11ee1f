package experiment

// Where threads wait busily nobody tells the kernel who lets whom go on. What they owe then is known to the next tick only, and a lock that is held for less than that
// is taken by who should not have it yet. So ticks come more often, where more than so few of them meet somebody who waits so. A tick costs 10 to 40 us.
const (
	finerTimes   = 4
	leastSpins   = 20
	spinsPercent = 2
)

// refine has ticks come more often, from the next experiment on, where that is worth it; not where a period was asked for.
func (s *session) refine() {
	if s.finer != 0 || !s.cfg.Finer || s.cfg.Rests() {
		return
	}
	spins := s.ledger.Spins()
	if spins < leastSpins || 100*spins < spinsPercent*s.ledger.Totals(0).Samples {
		return
	}
	s.finer = finerTimes
	s.ledger.Refine(finerTimes, s.units.count())
}
