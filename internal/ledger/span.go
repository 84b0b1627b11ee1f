package ledger

import (
	"fmt"
	"sync/atomic"
	"time"

	"whatif/bpf"
)

// MaxSpans is how many latencies one run can measure.
const MaxSpans = int(bpf.LedgerLimitMAX_SPANS)

// SpanBins is how many bins durations are counted in; which durations a bin has
// package profile says.
const SpanBins = int(bpf.LedgerLimitSPAN_BINS)

// SpanReading is what an experiment tells of a latency. All but InSystem are
// counted from the experiment's Settle on.
type SpanReading struct {
	InSystem  int64         // begun and not ended at the start of the experiment, by the points' visits
	Bins      []uint32      // borrowed, as those of points: durations, in virtual time
	Total     time.Duration // of all in the bins, but for a visit that was under way: ends whose begin was known
	Unmatched int64         // ends without a begin
	Again     int64         // begins where one was open
	Carried   int64         // of those in the bins, those that began before the experiment
	// Late are visits of the two points that were only counted: it is not known when
	// they happened. Then Samples, of how many were in between, know better than the
	// points' bins; it has as many bins, 2n+1 for n in between, 0 where that is not known.
	Late    int64
	Samples []uint32 // borrowed
	// Early is by how much Samples are too small.
	Early int64
}

// span is two points, the begin and the end of a latency.
type span struct {
	begin, end int
	keyed      bool
	least      int64 // of the begins without the ends, at any experiment's start: below 0 if some began before whatif came
	inSystem   int64
}

// SetSpan makes two points the begin and the end of a latency. It must come before
// the points are attached, and not while an experiment is under way. Sampled: one of the points is in the source, so its
// visits may be met some time after they happened. Keyed: a key tells which begin an end belongs to.
func (l *Ledger) SetSpan(begin, end int, sampled, keyed bool) error {
	n := len(l.spans)
	if n == MaxSpans || begin == end {
		return fmt.Errorf("measuring from point %d to %d: %d latencies are possible, each of two points", begin, end, MaxSpans)
	}
	l.spans = append(l.spans, span{begin: begin, end: end, keyed: keyed})
	l.page.spanPoints[begin] = bpf.LedgerSpanPoint{Role: uint32(bpf.LedgerSpanRoleSPAN_BEGIN), Span: uint32(n)}
	l.page.spanEnds[n] = bpf.LedgerSpanEnds{Begin: uint32(begin), End: uint32(end)}
	if sampled {
		l.page.control.SampledSpans |= 1 << n
	}
	l.page.spanPoints[end] = bpf.LedgerSpanPoint{Role: uint32(bpf.LedgerSpanRoleSPAN_END), Span: uint32(n)}
	return nil
}

func (l *Ledger) clearSpans(half uint64) {
	for i := range l.spans {
		clear(l.page.spanBins[half][i][:])
		clear(l.page.spanSamples[half][i][:])
		l.page.spanCounts[half][i] = bpf.LedgerSpanCounts{}
	}
}

// countInSystem finds how many were in between as the experiment began that is under way. It comes after that: where all cores are busy this process may have had to
// wait in the middle of beginning it, and each request that comes or goes meanwhile would be one too few or too many for all of it.
func (l *Ledger) countInSystem(half uint64) {
	const (
		attempts = 20
		apart    = 50 * time.Microsecond // a visit is counted before it is in its bin, by less than that
	)
	for i := range l.spans {
		s := &l.spans[i]
		read := func() [3]int64 {
			return [3]int64{l.visitsBefore(s.begin, half), l.visitsBefore(s.end, half), int64(load(&l.page.unbegun[i]))}
		}
		counts := read()
		for range attempts {
			time.Sleep(apart)
			again := read()
			if again == counts {
				break
			}
			counts = again
		}
		s.inSystem = s.inBetween(counts[0], counts[1], counts[2])
	}
}

// visitsBefore are a point's visits before the experiment that is under way: all but those in its bins.
func (l *Ledger) visitsBefore(point int, half uint64) int64 {
	const attempts = 100 // it may be visited all the time
	for i := 1; ; i++ {
		all, since := l.Visits(point), int64(0)
		for bin := range l.page.bins[half][point] {
			since += int64(atomic.LoadUint32(&l.page.bins[half][point][bin]))
		}
		if l.Visits(point) == all || i == attempts {
			return all - since
		}
	}
}

// inBetween is how many have begun and not ended. What had begun before whatif came ends without
// having begun: those are those without a begin, unless requests go from thread to thread and have no key: then
// all are. There must have been as many, at least, as ever ended more than began.
func (s *span) inBetween(begun, ended, unbegun int64) int64 {
	s.least = min(s.least, begun-ended)
	if !s.keyed && 2*unbegun > ended {
		return begun - ended - s.least
	}
	return begun - ended + unbegun
}

func (l *Ledger) readSpans(half uint64) []SpanReading {
	var all []SpanReading
	for i, s := range l.spans {
		c := &l.page.spanCounts[half][i]
		all = append(all, SpanReading{
			InSystem: s.inSystem, Bins: l.page.spanBins[half][i][:],
			Total: time.Duration(load(&c.Total)), Unmatched: int64(load(&c.Unmatched)),
			Again: int64(load(&c.Again)), Carried: int64(load(&c.Carried)),
			Late: int64(load(&c.Unseen)), Samples: l.page.spanSamples[half][i][:], Early: l.earlyVisits(s.begin) - l.earlyVisits(s.end),
		})
	}
	return all
}
