package ledger

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// MeasureProbes finds out what a visit costs, so that it can be booked as the
// delay that it is. It puts a probe on two functions of this process, one for
// each way in which the kernel runs the instruction under it; locate finds the
// place of code of this process.
func (l *Ledger) MeasureProbes(locate func(pc uint64) (path string, offset uint64, err error)) error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i, f := range []struct {
		pc      uint64
		batch   func(n int)
		stepped bool
	}{
		{emulatedPC(), callEmulated, false},
		{steppedPC(), callStepped, true},
	} {
		path, offset, err := locate(f.pc)
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		bare := timeBatches(f.batch)
		k, err := l.attach(MaxPoints, Probe{Path: path, Offset: offset, Stepped: f.stepped})
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		probed := timeBatches(f.batch)
		if err := k.Close(); err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		store(&l.page.control.ProbeCost[i], uint64(max(probed-bare, 0)))
	}
	return nil
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
