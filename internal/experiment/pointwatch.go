package experiment

import (
	"fmt"
	"time"

	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

// pointWatch watches for points that are never visited, and for points that take much time to count.
type pointWatch struct {
	ledger  *ledger.Ledger
	probes  *probes.Probes
	rec     *recorder
	period  time.Duration // of sampling
	start   uint64        // of profiling, on the ledger's clock
	checked map[int]bool  // points that were visited, or of which the user was told that they are not
	costly  map[int]bool  // points of which the user was told that counting them takes much time
}

func watchPoints(l *ledger.Ledger, p *probes.Probes, rec *recorder, period time.Duration, start uint64) *pointWatch {
	return &pointWatch{
		ledger: l, probes: p, rec: rec, period: period, start: start,
		checked: make(map[int]bool), costly: make(map[int]bool),
	}
}

// patience is how long a point may go without a visit before that is said.
const patience = 10 * time.Second

// checkVisits warns of points that are not visited, once each has had the time. It says in how long it has to be called
// again; 0: never.
func (w *pointWatch) checkVisits() (next time.Duration) {
	now := ledger.Now()
	for i, spec := range w.probes.Points() {
		if w.checked[i] {
			continue
		}
		since, found := w.awaited(i)
		say, again := neglected(time.Duration(now-since), found, w.ledger.Visits(i))
		if say != "" {
			w.rec.warn("never-visited", "progress point %s: %s", spec.Name, say)
		}
		w.checked[i] = again == 0
		if again > 0 && (next == 0 || again < next) {
			next = again
		}
	}
	return next
}

// neglected is what to say of a point that has been waited for so long, and in how long to look again; 0: never.
func neglected(waited time.Duration, found bool, visits int64) (say string, again time.Duration) {
	switch {
	case visits > 0:
		return "", 0
	case waited < patience:
		return "", patience - waited
	case found:
		return fmt.Sprintf("visited 0 times in %v, so nothing can be measured yet: does the load run, and is it the right "+
			"point? whatif points PID ranks what a process really does", patience), 0
	}
	// When it is found it has its time again.
	return fmt.Sprintf("visited 0 times in %v, as nothing that has run so far has it: check its name, or start what has "+
		"it", patience), patience
}

// awaited is since when visits of a point are expected: since it was found, for instance in a library that was loaded
// later; until then, since the start.
func (w *pointWatch) awaited(i int) (since uint64, found bool) {
	at, needed := w.probes.FoundAt(i)
	if needed && at == 0 {
		return w.start, false
	}
	return max(w.start, at), true
}

// To count a point is expensive from this share of the program's CPU time on. That time is booked as a delay, but it is
// estimated: from here on the estimate's errors begin to show.
const expensive = 0.02

// knownCPU is how much of the program's CPU time must have been seen to tell.
const knownCPU = time.Second

// checkCosts warns of points that take much of the program's time to count, once for each.
func (w *pointWatch) checkCosts(totals ledger.Totals) {
	cpu := time.Duration(totals.Samples) * w.period
	if cpu < knownCPU {
		return
	}
	for i, spec := range w.probes.Points() {
		spent, n := w.ledger.Spent(i), w.ledger.Visits(i)
		share := float64(spent) / float64(cpu)
		if n == 0 || share < expensive || w.costly[i] {
			continue
		}
		w.costly[i] = true
		w.rec.warn("point-cost", "progress point %s: counting its visits takes %.0f%% of the program's CPU time, "+
			"%.1f µs each: %s", spec.Name, 100*share, float64(spent)/float64(n)/1000, w.cheaper(spec, spent/time.Duration(n)))
	}
}

// cheaper is what to do about a point that is expensive to count. Only probes stand on an instruction.
func (w *pointWatch) cheaper(spec point.Spec, each time.Duration) string {
	const rarer = "something that happens less often"
	const source = "count in the program itself (WHATIF_PROGRESS), or " + rarer
	switch {
	case spec.Kind == point.Source: // it is counted there already
		return "count " + rarer
	case spec.Return && w.ledger.ProbeCost(ledger.Emulated) < each:
		return "count the function's entry instead, func:" + spec.Func + "; or " + source
	case spec.Probed() && 2*w.ledger.ProbeCost(ledger.Emulated) < each:
		return "the kernel has to run the instruction there in a single step: " +
			"another function or line nearby may cost less; or " + source
	}
	return source
}
