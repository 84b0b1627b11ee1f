package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// MeasureVisit finds out how long it takes to count a visit during an experiment, without the way to the program that
// counts. MeasureHooks and MeasureProbes add that way: they measure it in this process, whose visits are not counted.
// As MeasureVisit is an experiment itself, it has to come before anything is counted.
func (l *Ledger) MeasureVisit() error {
	l.Begin(Experiment{Baseline: true, Length: time.Second})
	defer func() {
		l.End(0)
		store(&l.page.visits[0], 0)
	}()
	program, err := l.programs.get("measure_visits")
	if err != nil {
		return err
	}
	// The median: another thread may take the core during a run.
	var times []uint32
	for range 5 {
		ns, err := program.Run(&ebpf.RunOptions{})
		if err != nil {
			return fmt.Errorf("measuring what counting a visit costs: %w", err)
		}
		times = append(times, ns)
	}
	slices.Sort(times)
	l.visitCost = time.Duration(times[len(times)/2])
	return nil
}

// probedFunctions are functions of this process to set probes on, one for each way in which the kernel runs a probed
// instruction. Their first instructions do not use the stack, and there is nothing on it but the return address. So
// even their returns can be probed, although this is a Go program.
var probedFunctions = map[Cost]struct {
	pc    func() uint64
	batch func(n int)
}{
	Emulated:      {emulatedPC, callEmulated},
	Return:        {emulatedPC, callEmulated},
	Stepped:       {steppedPC, callStepped},
	ReturnStepped: {steppedPC, callStepped},
	LongNop:       {longNopPC, callLongNop},
}

// MeasureProbes finds out what a visit by probes like these costs, so that the cost can be booked as the delay that it
// is. Each Cost is measured once, after MeasureVisit and before AttachProbes. locate finds the place of an address of
// this process's code.
func (p *probes) MeasureProbes(
	all []Probe, locate func(pc uint64) (path string, offset uint64, err error),
) error {
	// The thread must not move to another core within a batch.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, probe := range all {
		if p.measured[probe.Cost] {
			continue
		}
		function := probedFunctions[probe.Cost]
		path, offset, err := locate(function.pc())
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		own, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		each, err := p.measureProbe(
			Probe{File: own, Offset: offset, Cost: probe.Cost, Of: uint32(MaxPoints)}, function.batch)
		own.Close()
		if err != nil {
			return fmt.Errorf("measuring what a probe costs: %w", err)
		}
		store(&p.page.control.ProbeCost[probe.Cost], uint64(each+p.visitCost))
		p.measured[probe.Cost] = true
	}
	return nil
}

// ProbeCost is what a visit costs, as MeasureProbes found out.
func (p *probes) ProbeCost(c Cost) time.Duration {
	return time.Duration(load(&p.page.control.ProbeCost[c]))
}

// measureProbe is what a visit of the probe adds to the time of a call. batch makes n calls.
func (p *probes) measureProbe(probe Probe, batch func(n int)) (time.Duration, error) {
	return timeProbe(batch, func() ([]io.Closer, error) {
		links, err := p.set(visitHandler([]Probe{probe}), []Probe{probe})
		var all []io.Closer
		for _, k := range links {
			all = append(all, k)
		}
		return all, err
	})
}

func timeProbe(batch func(n int), set func() ([]io.Closer, error)) (time.Duration, error) {
	bare := timeBatches(batch)
	links, err := set()
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

// TimeProbe finds out what it takes to reach a program at a probe of this cost, and to come back. set attaches the
// program to a probe on code of this process, for which it should do nothing. locate is as in MeasureProbes.
func TimeProbe(
	c Cost, locate func(pc uint64) (path string, offset uint64, err error), set func(Probe) ([]io.Closer, error),
) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	function := probedFunctions[c]
	path, offset, err := locate(function.pc())
	if err != nil {
		return 0, fmt.Errorf("measuring what a probe costs: %w", err)
	}
	own, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("measuring what a probe costs: %w", err)
	}
	defer own.Close()
	return timeProbe(function.batch, func() ([]io.Closer, error) {
		return set(Probe{File: own, Offset: offset, Cost: c})
	})
}

// timeBatches is the time of one call, where call makes n of them: of this thread alone, as others may want its core.
// It is the median over batches: those in which there were interrupts do not move it.
func timeBatches(call func(n int)) time.Duration {
	const batches, size = 25, 40
	var each []time.Duration
	for range batches {
		start := threadTime()
		call(size)
		each = append(each, (threadTime()-start)/size)
	}
	slices.Sort(each)
	return each[batches/2]
}

// threadTime is for how long this thread has run.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return time.Duration(time.Now().UnixNano()) // every Linux has that clock
	}
	return time.Duration(t.Nano())
}
