package ledger

import (
	"slices"
	"time"

	"whatif/bpf"
)

// Totals are counts of the whole run so far, summed over the cores.
type Totals struct {
	Samples       int64 // as all samples here, in periods of Options
	TooSoon       int64 // in the unit of an experiment, by threads that come too often: see bpf/pay/return_delay.h
	Busy          int64 // of threads that wait busily
	Stops         int64
	StopsDeferred int64         // stops that had to wait, as the kernel may have had locks
	Stopped       time.Duration // for which threads were stopped
	Turns         int64         // of the stopping loop
	Turning       time.Duration // in the stopping loop, without waiting for other cores
	Delayed       time.Duration // for which threads were delayed before they returned from a system call
	Foreign       time.Duration // by samples, of tasks that have nothing to do with the target
	Dealt         time.Duration // by switches, of tasks outside the target that talk to it
	Wakes         int64         // of threads of the target
	HandOvers     int64         // a thread of the target woke another one, or a goroutine made another one ready
	NetworkWakes  int64         // the wakes that a packet from another machine caused
	Waited        Waits
	Changes       Changes // of the levels of the target's threads
	Lost          [bpf.LedgerLossLOSS_MAX]int64
	Units         []int64 // samples of each unit at the same moment; index 0 is unit 1
}

// Minus is what was added since u.
func (t Totals) Minus(u Totals) Totals {
	t.Samples -= u.Samples
	t.TooSoon -= u.TooSoon
	t.Busy -= u.Busy
	t.Stops -= u.Stops
	t.StopsDeferred -= u.StopsDeferred
	t.Stopped -= u.Stopped
	t.Turns -= u.Turns
	t.Turning -= u.Turning
	t.Delayed -= u.Delayed
	t.Foreign -= u.Foreign
	t.Dealt -= u.Dealt
	t.Wakes -= u.Wakes
	t.HandOvers -= u.HandOvers
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

// Totals returns the counts, with the samples of the first units. Cores may count while they are read, most of all if
// this process has to wait meanwhile. Then they are read again, but not for ever: of many cores one always counts.
func (x *experiments) Totals(units int) Totals {
	const attempts = 10
	t := x.sums()
	for range attempts {
		before := t.Samples
		all := x.UnitSamples(units)
		t = x.sums()
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
func (x *experiments) UnitSamples(units int) []int64 {
	all := make([]int64, units)
	for i := range all {
		all[i] = int64(load(&x.page.unitSamples[i+1])) / sampleParts
	}
	return all
}

// sums are the totals without those of units, and with samples in parts.
func (x *experiments) sums() Totals {
	var t Totals
	for i := range x.page.cores {
		c := &x.page.cores[i]
		t.Samples += int64(load(&c.Samples))
		t.TooSoon += int64(load(&c.TooSoon))
		t.Busy += int64(load(&c.Busy))
		t.Stops += int64(load(&c.Stops))
		t.StopsDeferred += int64(load(&c.StopsDeferred))
		t.Stopped += time.Duration(load(&c.Stopped))
		t.Turns += int64(load(&c.Turns))
		t.Turning += time.Duration(load(&c.Turning))
		t.Delayed += time.Duration(load(&c.Delayed))
		t.Foreign += time.Duration(load(&c.Foreign))
		t.Dealt += time.Duration(load(&c.Dealt))
		t.Wakes += int64(load(&c.Wakes))
		t.HandOvers += int64(load(&c.HandOvers))
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
