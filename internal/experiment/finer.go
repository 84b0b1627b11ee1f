package experiment

import (
	"slices"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// Ticks come more often once this many of the experiments' samples, and this many percent, have met a thread that waits
// busily; or once the target's threads have handed over to each other so often, and more than once in each period that
// they ran; or once so many requests took less than a period, on average.
const (
	leastBusy      = 20
	busyPercent    = 2
	leastHandOvers = 200
	leastRequests  = 200
)

// finerTicks makes ticks come more often where threads let each other go on more than once between two of them. What a
// thread owes is known and paid at ticks, and until then it runs ahead: it takes a lock, a job or a core that another
// one would have had. Where threads wait busily the kernel does not even see the hand-overs. A tick costs 10 to 40 µs.
//
// With less than one tick in a request, the ticks do not tell how much requests differ. What a request earned would
// then be too uneven, and spread the durations.
type finerTicks struct {
	ledger                   *ledger.Ledger
	allowed                  bool
	period                   time.Duration
	busy, handOvers, samples int64      // of all experiments so far
	each                     []requests // of each latency
}

// requests are those of a latency with known durations.
type requests struct{ n, took int64 }

// newFinerTicks allows finer ticks unless a period was asked for; nothing is sped up, as no thread owes anything then;
// or the whole machine is profiled, as all pay for the ticks and few need them.
func newFinerTicks(l *ledger.Ledger, cfg *Config) *finerTicks {
	return &finerTicks{ledger: l, allowed: cfg.Finer && cfg.speedsUp() && !cfg.System, period: cfg.Period}
}

// add counts what an experiment has counted.
func (f *finerTicks) add(d ledger.Totals, latencies []profile.Durations) {
	f.busy += d.Busy
	f.handOvers += d.HandOvers
	f.samples += d.Samples
	f.each = append(f.each, make([]requests, max(0, len(latencies)-len(f.each)))...)
	for i := range latencies {
		f.each[i].n += latencies[i].Matched
		f.each[i].took += latencies[i].TotalNS
	}
}

// refine makes ticks come more often, from the next experiment on, where that is worth it.
func (f *finerTicks) refine() {
	if f.allowed && f.ledger.Ticks() == 1 && f.needed() {
		f.ledger.Refine()
	}
}

// needed tells whether threads let each other go on more than once between two ticks, or may do so unseen, or whether
// requests are shorter than that.
func (f *finerTicks) needed() bool {
	return f.busy >= leastBusy && 100*f.busy >= busyPercent*f.samples ||
		f.handOvers >= leastHandOvers && f.handOvers > f.samples ||
		slices.ContainsFunc(f.each, func(r requests) bool {
			return r.n >= leastRequests && r.took < int64(f.period)*r.n
		})
}
