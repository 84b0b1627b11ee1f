package ledger

import (
	"math/bits"
	"time"

	"whatif/bpf"
)

// experiments is the part of a Ledger that begins and ends experiments, and reads what was counted (totals.go,
// waits.go).
type experiments struct {
	*kernelSide
	clock   *clock
	members *membership
	visits  *visitCounts
	nested  bool // a sample can be in several units
}

// Experiment is what Begin is to try.
type Experiment struct {
	Selection Selection
	Baseline  bool          // the selection is not sped up: only what may be next is learned about
	Length    time.Duration // of the wall clock
	Settle    time.Duration // from the start on; durations are counted after it
	Placebo   bool          // nothing is sped up, see package profile; the selection says how much everyone is delayed
}

// Reading is what was counted during an experiment.
type Reading struct {
	Start uint64 // by the kernel side's clock
	// Real is the length by the wall clock: up to the deadline, the end of the target's last process, or End, whichever
	// came first.
	Real   time.Duration
	Delay  time.Duration // by how much G grew
	Unpaid time.Duration // the largest debt of a running thread at the end
	Points [MaxPoints]PointReading
	Spans  []SpanReading // one for each SetSpan
	Totals Totals
}

// PointReading is the visits of a point, by virtual time.
type PointReading struct {
	Bins  []uint32 // valid until the experiment after the next begins
	Width time.Duration
}

// Begin starts an experiment. It ends by itself at its deadline. It ends earlier when this process is gone or does not
// call Renew.
func (x *experiments) Begin(e Experiment) {
	c := x.page.control
	store(&c.Deadline, 0)
	epoch := c.Epoch + 1
	half := &x.page.bins[epoch&1]
	for i := range half {
		clear(half[i][:])
	}
	x.visits.clearSpans(epoch & 1)
	now := Now()
	e.Selection.write(c, x.nested, !e.Baseline)
	c.Placebo = flag(e.Placebo)
	store(&c.WaitedUntil, now)
	c.BinShift = binShift(e.Length)
	store(&c.SpanFrom, uint64(e.Settle))
	x.clock.renew()
	store(&c.GlobalStart, load(&c.Global))
	store(&c.Start, now)
	store(&c.Epoch, epoch)
	store(&c.Deadline, now+uint64(e.Length))
	if x.detached.Load() { // meanwhile, by another goroutine
		store(&c.Deadline, 0)
	}
	x.visits.countInSystem(epoch & 1)
}

// binShift is the narrowest bin with which an experiment of that length fits. A bin is 2^binShift ns wide.
func binShift(length time.Duration) uint32 {
	return uint32(bits.Len64(uint64(length) / uint64(bpf.LedgerLimitMAX_BINS)))
}

// Left is how long the experiment still has.
func (x *experiments) Left() time.Duration {
	now, end := Now(), load(&x.page.control.Deadline)
	if now >= end {
		return 0
	}
	return time.Duration(end - now)
}

// End ends the experiment, if its deadline has not, and reads it. The Totals are counts since the start of the run,
// with those of the first units.
func (x *experiments) End(units int) Reading {
	c := x.page.control
	deadline := load(&c.Deadline)
	end := Now()
	store(&c.Deadline, 0)
	if deadline != 0 { // else everything was detached before its time
		end = min(end, deadline)
	}
	end = max(c.Start, min(end, load(&c.Lease)))
	// The target's end is noticed later.
	if ended := load(&c.Ended); x.members.Processes() == 0 && ended > c.Start && ended < end {
		end = ended
	}
	r := Reading{
		Start:  c.Start,
		Real:   time.Duration(end - c.Start),
		Delay:  time.Duration(load(&c.Global) - c.GlobalStart),
		Totals: x.Totals(units),
	}
	for i := range x.page.cores {
		r.Unpaid = max(r.Unpaid, time.Duration(load(&x.page.cores[i].Debt)))
		store(&x.page.cores[i].Debt, 0)
	}
	for i := range r.Points {
		r.Points[i] = PointReading{
			Bins:  x.page.bins[c.Epoch&1][i][:],
			Width: 1 << c.BinShift,
		}
	}
	r.Spans = x.visits.readSpans(c.Epoch & 1)
	return r
}
