package ledger

import (
	"math/bits"
	"slices"
	"time"

	"whatif/bpf"
)

// Experiment is what Begin is to try.
type Experiment struct {
	Unit    uint32        // the unit to speed up, or in a baseline to learn about; 0: none
	Wait    *WaitClass    // speed up waiting of this class instead, wherever; Unit is its number then
	Delay   time.Duration // what a period of running in the unit is worth; 0: a baseline
	Length  time.Duration // on the wall clock
	Settle  time.Duration // from its start; durations are counted after that
	Placebo bool          // nothing is sped up, see package profile: Delay is for a period of time
}

// Reading is what was counted during an experiment.
type Reading struct {
	Start  uint64        // on the kernel side's clock
	Real   time.Duration // on the wall clock, up to the deadline, the end of the target's last process, or End: what came first
	Delay  time.Duration // by how much G grew
	Unpaid time.Duration // the largest debt that a running thread had at the end
	Points [MaxPoints]PointReading
	Spans  []SpanReading // one for each span that was set
	Totals Totals
}

// PointReading is what one point did: visits by virtual time.
type PointReading struct {
	Bins  []uint32 // borrowed: valid until the experiment after next begins
	Width time.Duration
}

// Totals are counts summed over the cores, growing through the whole run.
type Totals struct {
	Samples                       int64 // in periods that were asked for, as all samples
	TooSoon                       int64 // those in the experiment's unit of threads that come too often, as the clock has them: see bpf/pay/return_delay.h
	Busy                          int64 // those that met a thread which waits busily
	Stops, Turns                  int64
	Turning                       time.Duration // for which there were those turns
	PutOff                        int64         // stops that had to wait, as the kernel may have had locks
	Stopped, Foreign, Dealt, Held time.Duration
	Wakes                         int64 // of threads of the target
	NetworkWakes                  int64 // those of them that packets from elsewhere made
	Waited                        Waits
	Changes                       Changes // of the levels of the target's threads
	Lost                          [bpf.LedgerLossLOSS_MAX]int64
	Units                         []int64 // samples of each, as of the same moment; index 0 is unit 1
}

// Minus is what was added since.
func (t Totals) Minus(u Totals) Totals {
	t.Samples -= u.Samples
	t.TooSoon -= u.TooSoon
	t.Busy -= u.Busy
	t.Stops -= u.Stops
	t.PutOff -= u.PutOff
	t.Turns -= u.Turns
	t.Turning -= u.Turning
	t.Stopped -= u.Stopped
	t.Held -= u.Held
	t.Foreign -= u.Foreign
	t.Dealt -= u.Dealt
	t.Wakes -= u.Wakes
	t.NetworkWakes -= u.NetworkWakes
	for i := range t.Waited {
		t.Waited[i] -= u.Waited[i]
	}
	for i := range t.Lost {
		t.Lost[i] -= u.Lost[i]
	}
	for i := range t.Changes {
		t.Changes[i] -= u.Changes[i]
	}
	t.Units = slices.Clone(t.Units)
	for i, n := range u.Units {
		t.Units[i] -= n
	}
	return t
}

// Totals reads the counts, and those of the first units. This process may be kept waiting between two of them:
// then they are read again, but not for ever, as many cores always count something.
func (l *Ledger) Totals(units int) Totals {
	const attempts = 10
	t := l.sums()
	for range attempts {
		before := t.Samples
		all := l.UnitSamples(units)
		t = l.sums()
		t.Units = all
		if t.Samples == before {
			break
		}
	}
	t.Samples /= sampleParts
	t.TooSoon /= sampleParts
	t.Busy /= sampleParts
	return t
}

// UnitSamples are the samples of the first units since the start; index 0 is unit 1.
func (l *Ledger) UnitSamples(units int) []int64 {
	all := make([]int64, units)
	for i := range all {
		all[i] = int64(load(&l.page.unitSamples[i+1])) / sampleParts
	}
	return all
}

// sums has samples in parts.
func (l *Ledger) sums() Totals {
	var t Totals
	for i := range l.page.cores {
		c := &l.page.cores[i]
		t.Samples += int64(load(&c.Samples))
		t.Stops += int64(load(&c.Stops))
		t.PutOff += int64(load(&c.StopsDeferred))
		t.TooSoon += int64(load(&c.TooSoon))
		t.Busy += int64(load(&c.Busy))
		t.Turns += int64(load(&c.Turns))
		t.Turning += time.Duration(load(&c.Turning))
		t.Stopped += time.Duration(load(&c.Stopped))
		t.Held += time.Duration(load(&c.Delayed))
		t.Foreign += time.Duration(load(&c.Foreign))
		t.Dealt += time.Duration(load(&c.Dealt))
		t.Wakes += int64(load(&c.Wakes))
		t.NetworkWakes += int64(load(&c.NetworkWakes))
		for k := range t.Waited {
			t.Waited[k] += time.Duration(load(&c.Waited[k]))
		}
		for k := range t.Lost {
			t.Lost[k] += int64(load(&c.Lost[k]))
		}
		for k := range t.Changes {
			t.Changes[k] += time.Duration(load(&c.Changes[k]))
		}
	}
	return t
}

// Begin starts an experiment. It ends by itself at its deadline, and before that when this process is
// gone, or does not call Renew.
func (l *Ledger) Begin(e Experiment) {
	c := l.page.control
	store(&c.Deadline, 0)
	epoch := c.Epoch + 1
	half := &l.page.bins[epoch&1]
	for i := range half {
		clear(half[i][:])
	}
	l.clearSpans(epoch & 1)
	now := Now()
	c.Unit = e.Unit
	c.WaitClass = 0
	if e.Wait != nil {
		c.WaitClass = 1 + uint64(*e.Wait)
	}
	c.Placebo = 0
	if e.Placebo {
		c.Placebo = 1
	}
	store(&c.WaitedUntil, now)
	c.BinShift = binShift(e.Length)
	store(&c.Rate, uint64(bpf.LedgerSharedNumberNUMBER_CREDIT_ONE)*uint64(e.Delay)/uint64(l.opt.Period))
	store(&c.SpanFrom, uint64(e.Settle))
	l.renew()
	store(&c.GlobalStart, load(&c.Global))
	store(&c.Start, now)
	store(&c.Epoch, epoch)
	store(&c.Deadline, now+uint64(e.Length))
	if l.detached.Load() { // meanwhile, by another goroutine
		store(&c.Deadline, 0)
	}
	l.countInSystem(epoch & 1)
}

// binShift is the narrowest bin with which an experiment of that length fits.
func binShift(length time.Duration) uint32 {
	return uint32(bits.Len64(uint64(length) / uint64(bpf.LedgerLimitMAX_BINS)))
}

// Left is how long the experiment still has.
func (l *Ledger) Left() time.Duration {
	now, end := Now(), load(&l.page.control.Deadline)
	if now >= end {
		return 0
	}
	return time.Duration(end - now)
}

// End ends the experiment, if its deadline has not, and reads it. The Totals
// are those since the start of the run, and of the first units.
func (l *Ledger) End(units int) Reading {
	c := l.page.control
	deadline := load(&c.Deadline)
	end := Now()
	store(&c.Deadline, 0)
	if deadline != 0 { // else it was detached before its time
		end = min(end, deadline)
	}
	end = max(c.Start, min(end, load(&c.Lease)))
	// It was noticed later.
	if ended := load(&c.Ended); l.Processes() == 0 && ended > c.Start && ended < end {
		end = ended
	}
	r := Reading{
		Start:  c.Start,
		Real:   time.Duration(end - c.Start),
		Delay:  time.Duration(load(&c.Global) - c.GlobalStart),
		Totals: l.Totals(units),
	}
	for i := range l.page.cores {
		r.Unpaid = max(r.Unpaid, time.Duration(load(&l.page.cores[i].Debt)))
		store(&l.page.cores[i].Debt, 0)
	}
	for i := range r.Points {
		r.Points[i] = PointReading{
			Bins:  l.page.bins[c.Epoch&1][i][:],
			Width: 1 << c.BinShift,
		}
	}
	r.Spans = l.readSpans(c.Epoch & 1)
	return r
}
