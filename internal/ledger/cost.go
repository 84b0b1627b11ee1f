package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
)

// subjects are functions of this process to put probes on, one for each way in which
// the kernel runs the instruction under one. Their first instructions leave the stack
// alone, and nothing else is on it but the return address: also returns may be probed,
// though it is Go.
var subjects = map[Cost]struct {
	pc    func() uint64
	batch func(n int)
}{
	Emulated:      {emulatedPC, callEmulated},
	Return:        {emulatedPC, callEmulated},
	Stepped:       {steppedPC, callStepped},
	ReturnStepped: {steppedPC, callStepped},
	LongNop:       {longNopPC, callLongNop},
}

// MeasureProbes finds out what a visit by probes like these costs, so that it can be
// booked as the delay that it is: once for each cost, after MeasureVisit and before AttachProbes.
// locate finds the place of code of this process.
func (l *Ledger) MeasureProbes(probes []Probe, locate func(pc uint64) (path string, offset uint64, err error)) error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, p := range probes {
		if l.measured[p.Cost] {
			continue
		}
		subject := subjects[p.Cost]
		path, offset, err := locate(subject.pc())
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		own, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		each, err := l.measureProbe(Probe{File: own, Offset: offset, Cost: p.Cost, Of: uint32(MaxPoints)}, subject.batch)
		own.Close()
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		store(&l.page.control.ProbeCost[p.Cost], uint64(each+l.visit))
		l.measured[p.Cost] = true
	}
	return nil
}

// ProbeCost is what MeasureProbes found that a visit costs.
func (l *Ledger) ProbeCost(c Cost) time.Duration {
	return time.Duration(load(&l.page.control.ProbeCost[c]))
}

func (l *Ledger) measureProbe(p Probe, batch func(n int)) (time.Duration, error) {
	bare := timeBatches(batch)
	links, err := l.attach(visitedBy([]Probe{p}), []Probe{p})
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
