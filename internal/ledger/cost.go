package ledger

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// MeasureProbes finds out what a visit costs, so that it can be booked as the
// delay that it is. It puts probes on functions of this process, one for
// each way in which the kernel runs the instruction under it; locate finds the
// place of code of this process.
func (l *Ledger) MeasureProbes(locate func(pc uint64) (path string, offset uint64, err error)) error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, f := range []struct {
		pc    uint64
		batch func(n int)
		costs []Cost
	}{
		// Their first instructions leave the stack alone, and nothing else is on
		// it but the return address: also returns may be probed, though it is Go.
		{emulatedPC(), callEmulated, []Cost{Emulated, Return}},
		{steppedPC(), callStepped, []Cost{Stepped, ReturnStepped}},
		{longNopPC(), callLongNop, []Cost{LongNop}},
	} {
		path, offset, err := locate(f.pc)
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		for _, cost := range f.costs {
			each, err := l.measureProbe(Probe{Path: path, Offset: offset, Cost: cost}, f.batch)
			if err != nil {
				return fmt.Errorf("measuring what a probe costs: %w", err)
			}
			store(&l.page.control.ProbeCost[cost], uint64(each))
		}
	}
	return nil
}

// ProbeCost is what MeasureProbes found that a visit costs.
func (l *Ledger) ProbeCost(c Cost) time.Duration {
	return time.Duration(load(&l.page.control.ProbeCost[c]))
}

func (l *Ledger) measureProbe(p Probe, batch func(n int)) (time.Duration, error) {
	bare := timeBatches(batch)
	links, err := l.attach(MaxPoints, []Probe{p})
	probed := bare
	if err == nil {
		probed = timeBatches(batch)
	}
	errs := []error{err}
	for _, k := range links {
		errs = append(errs, k.Close())
	}
	return max(probed-bare, 0), errors.Join(errs...)
}

// timeBatches is the time of one call: the median over batches, which is not
// moved by those in which something else ran.
func timeBatches(call func(n int)) time.Duration {
	const batches, size = 25, 40
	var each []time.Duration
	for range batches {
		start := time.Now()
		call(size)
		each = append(each, time.Since(start)/size)
	}
	slices.Sort(each)
	return each[batches/2]
}
