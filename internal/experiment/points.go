package experiment

import (
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
)

// patience is how long a point may go without a visit before that is said.
const patience = 10 * time.Second

// checkPoints warns of points that are not visited, once the time has come. It says
// in how long it has to be called again, 0 for never.
func (s *session) checkPoints() (next time.Duration) {
	if s.checked {
		return 0
	}
	if left := patience - time.Duration(ledger.Now()-s.start); left > 0 {
		return left
	}
	s.checked = true
	for i, spec := range s.cfg.Points {
		if s.ledger.Visits(i) == 0 {
			s.warn("never-visited", "progress point %s: visited 0 times in %v", spec.Name, patience)
		}
	}
	return 0
}

// Counting a point is dear from this share of the program's CPU time on. What it takes is booked as a
// delay, but estimated: of that much the errors begin to show.
const dear = 0.02

// knownCPU is how much of the program's CPU time must have been seen to tell.
const knownCPU = time.Second

// checkCosts warns of points whose counting takes much of the program's time, once for each.
func (s *session) checkCosts(totals ledger.Totals) {
	cpu := time.Duration(totals.Samples) * s.cfg.Period
	if cpu < knownCPU {
		return
	}
	for i, spec := range s.cfg.Points {
		spent, n := s.ledger.Spent(i), s.ledger.Visits(i)
		share := float64(spent) / float64(cpu)
		if n == 0 || share < dear || s.costly[i] {
			continue
		}
		s.costly[i] = true
		s.warn("point-cost", "progress point %s: counting its visits takes %.0f%% of the program's CPU time, %.1f µs each: %s",
			spec.Name, 100*share, float64(spent)/float64(n)/1000, s.cheaper(spec, spent/time.Duration(n)))
	}
}

// cheaper is what to do about a point that is dear to count.
func (s *session) cheaper(spec point.Spec, each time.Duration) string {
	const source = "count in the program itself (WHATIF_PROGRESS), or something that happens less often"
	switch {
	case spec.Return && s.ledger.ProbeCost(ledger.Emulated) < each:
		return "count the function's entry instead, func:" + spec.Func + "; or " + source
	case 2*s.ledger.ProbeCost(ledger.Emulated) < each:
		return "the kernel has to run the instruction there in a single step: another function or line nearby may cost less; or " + source
	}
	return source
}
