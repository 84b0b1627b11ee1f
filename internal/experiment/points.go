package experiment

import (
	"fmt"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
)

// patience is how long a point may go without a visit before that is said.
const patience = 10 * time.Second

// checkPoints warns of points that are not visited, once each has had the time. It says
// in how long it has to be called again, 0 for never.
func (s *session) checkPoints() (next time.Duration) {
	now := ledger.Now()
	for i := range s.cfg.Points {
		if s.checked[i] {
			continue
		}
		since, found := s.awaited(i)
		say, again := neglected(time.Duration(now-since), found, s.ledger.Visits(i))
		if say != "" {
			s.warn("never-visited", "progress point %s: %s", s.cfg.Points[i].Name, say)
		}
		s.checked[i] = again == 0
		if again > 0 && (next == 0 || again < next) {
			next = again
		}
	}
	return next
}

// neglected is what to say of a point that has been waited for so long, and in how long
// to look again; 0: never.
func neglected(waited time.Duration, found bool, visits int64) (say string, again time.Duration) {
	switch {
	case visits > 0:
		return "", 0
	case waited < patience:
		return "", patience - waited
	case found:
		return fmt.Sprintf("visited 0 times in %v", patience), 0
	}
	// When it is found it has its time again.
	return fmt.Sprintf("visited 0 times in %v: nothing that has run so far has it", patience), patience
}

// awaited is since when a point is expected to be visited: since it was found, in a
// library that was loaded later for instance; while it was not, since the start.
func (s *session) awaited(i int) (since uint64, found bool) {
	spec := &s.cfg.Points[i]
	at := s.start
	switch {
	case spec.Kind == point.Source:
		at = s.counters.foundAt(i)
	case spec.Probed():
		at = s.sites.foundAt(i)
	}
	if at == 0 {
		return s.start, false
	}
	return max(s.start, at), true
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

// cheaper is what to do about a point that is dear to count. Only probes stand on an instruction.
func (s *session) cheaper(spec point.Spec, each time.Duration) string {
	const rarer = "something that happens less often"
	const source = "count in the program itself (WHATIF_PROGRESS), or " + rarer
	switch {
	case spec.Kind == point.Source: // it is counted there already
		return "count " + rarer
	case spec.Return && s.ledger.ProbeCost(ledger.Emulated) < each:
		return "count the function's entry instead, func:" + spec.Func + "; or " + source
	case spec.Probed() && 2*s.ledger.ProbeCost(ledger.Emulated) < each:
		return "the kernel has to run the instruction there in a single step: another function or line nearby may cost less; or " + source
	}
	return source
}
