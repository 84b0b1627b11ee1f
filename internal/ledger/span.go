package ledger

import (
	"fmt"
	"sync/atomic"
	"time"

	"whatif/bpf"
)

// MaxSpans is how many latencies one run can measure.
const MaxSpans = int(bpf.LedgerLimitMAX_SPANS)

// SpanReading is what was counted of a latency in an experiment: from its Settle on, except for InSystem.
type SpanReading struct {
	// InSystem is how many requests had begun and not ended at the start of the experiment, by the points' visits.
	InSystem  int64
	Bins      []uint32      // valid as long as those of points: durations in virtual time, in bins of package profile
	Total     time.Duration // of all in the bins, except of a visit that was under way: ends with a known begin
	Unmatched int64         // ends without a begin
	Again     int64         // begins while another one was open
	Carried   int64         // durations in the bins that began before the experiment
	// Late is how many visits of the two points were only counted: their moments are unknown. Then Samples tell better
	// than the points' bins how many requests were between the points. For each of as many bins it has 2n+1 for n
	// requests, and 0 where their number is unknown.
	Late    int64
	Samples []uint32 // valid as long as Bins
	Early   int64    // by how much the numbers in Samples are too small
}

// span is a latency, from a visit of one point to one of another.
type span struct {
	begin, end int // points
	keyed      bool
	// leastOpen is the least difference of begins and ends at the start of an experiment. It is negative if some
	// requests began before whatif came.
	leastOpen int64
	inSystem  int64 // see SpanReading
}

// SetSpan makes two points the begin and the end of a latency. It has to come before the points are attached, and not
// during an experiment. With sampled, one of the points is in the source, so its visits may be seen some time after
// they happened. With keyed, a key tells which begin an end belongs to.
func (v *visitCounts) SetSpan(begin, end int, sampled, keyed bool) error {
	n := len(v.spans)
	if n == MaxSpans || begin == end {
		return fmt.Errorf("measuring from point %d to %d: %d latencies are possible, each of two points",
			begin, end, MaxSpans)
	}
	v.spans = append(v.spans, span{begin: begin, end: end, keyed: keyed})
	v.page.spanPoints[begin] = bpf.LedgerSpanPoint{Role: uint32(bpf.LedgerSpanRoleSPAN_BEGIN), Span: uint32(n)}
	v.page.spanEnds[n] = bpf.LedgerSpanEnds{Begin: uint32(begin), End: uint32(end)}
	if sampled {
		v.page.control.SampledSpans |= 1 << n
	}
	v.page.spanPoints[end] = bpf.LedgerSpanPoint{Role: uint32(bpf.LedgerSpanRoleSPAN_END), Span: uint32(n)}
	return nil
}

// clearSpans clears the counts of the experiments that have this half of the shared memory.
func (v *visitCounts) clearSpans(half uint64) {
	for i := range v.spans {
		clear(v.page.spanBins[half][i][:])
		clear(v.page.spanSamples[half][i][:])
		v.page.spanCounts[half][i] = bpf.LedgerSpanCounts{}
	}
}

// countInSystem finds how many requests were between the points when the current experiment began. It is called after
// that. If all cores are busy, this process may have to wait while it begins an experiment. Each request that came or
// went meanwhile would be one too few or too many for the whole experiment.
func (v *visitCounts) countInSystem(half uint64) {
	const (
		attempts = 20
		apart    = 50 * time.Microsecond // a visit is counted before it is in its bin, by less than that
	)
	for i := range v.spans {
		s := &v.spans[i]
		read := func() [3]int64 {
			return [3]int64{
				v.visitsBefore(s.begin, half), v.visitsBefore(s.end, half), int64(load(&v.page.unbegun[i])),
			}
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

// visitsBefore are a point's visits before the current experiment: all visits but those in its bins.
func (v *visitCounts) visitsBefore(point int, half uint64) int64 {
	const attempts = 100 // it may be visited all the time
	for i := 1; ; i++ {
		all, since := v.Visits(point), int64(0)
		for bin := range v.page.bins[half][point] {
			since += int64(atomic.LoadUint32(&v.page.bins[half][point][bin]))
		}
		if v.Visits(point) == all || i == attempts {
			return all - since
		}
	}
}

// inBetween is how many requests have begun and not ended. Requests that began before whatif came end without a begin.
// Usually they are the ends without a begin. But where requests go from thread to thread and have no key, all ends are
// without one. Then there were as many, at least, as ever ended more than had begun.
func (s *span) inBetween(begun, ended, unbegun int64) int64 {
	s.leastOpen = min(s.leastOpen, begun-ended)
	if !s.keyed && 2*unbegun > ended {
		return begun - ended - s.leastOpen
	}
	return begun - ended + unbegun
}

func (v *visitCounts) readSpans(half uint64) []SpanReading {
	var all []SpanReading
	for i, s := range v.spans {
		c := &v.page.spanCounts[half][i]
		all = append(all, SpanReading{
			InSystem: s.inSystem, Bins: v.page.spanBins[half][i][:],
			Total: time.Duration(load(&c.Total)), Unmatched: int64(load(&c.Unmatched)),
			Again: int64(load(&c.Again)), Carried: int64(load(&c.Carried)),
			Late: int64(load(&c.Unseen)), Samples: v.page.spanSamples[half][i][:],
			Early: v.sources.earlyVisits(s.begin) - v.sources.earlyVisits(s.end),
		})
	}
	return all
}
