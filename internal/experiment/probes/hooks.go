package probes

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/tracepoint"
)

// measureVisit measures what counting a visit costs, before there is a target: a program or a library that comes later
// may be the first to have a point of the user's.
func (p *Probes) measureVisit() error {
	if !slices.ContainsFunc(p.points, func(spec point.Spec) bool {
		return spec.Probed() || isHooked(spec) || spec.Kind == point.Source && len(p.options.Latencies) > 0
	}) {
		return nil
	}
	return p.ledger.MeasureVisit()
}

// isHooked tells whether visits of a point are counted by a hook of the kernel.
func isHooked(spec point.Spec) bool {
	return spec.Kind == point.Syscall || spec.Kind == point.Tracepoint
}

// hook has those points counted that are not in the program's code.
func (p *Probes) hook(programs []Program) error {
	if slices.ContainsFunc(p.points, isHooked) {
		if err := p.ledger.MeasureHooks(); err != nil {
			return err
		}
	}
	for i, spec := range p.points {
		var err error
		switch spec.Kind {
		case point.Syscall:
			err = p.hookCall(i, spec.Event, spec.AtExit)
		case point.Tracepoint:
			err = p.hookTracepoint(i, spec)
		case point.Exit:
			p.ledger.CountExits(i)
		case point.Sample:
			err = checkLine(spec, programs)
		}
		if err != nil {
			return fmt.Errorf("counting progress point %s: %w", spec.Text, err)
		}
	}
	return nil
}

func (p *Probes) hookCall(i int, name string, over bool) error {
	number, err := tracepoint.Syscall(name)
	if err != nil {
		return err
	}
	return p.ledger.CountCalls(i, number, over)
}

func (p *Probes) hookTracepoint(i int, spec point.Spec) error {
	if err := checkTracepoint(spec); err != nil {
		return err
	}
	if call, over, ok := tracepoint.SyscallOf(spec.Category, spec.Event); ok {
		return p.hookCall(i, call, over)
	}
	err := p.ledger.CountTracepoint(i, spec.Event)
	if errors.Is(err, fs.ErrNotExist) {
		return hint.New(err, "what tracefs lists under "+spec.Category+" are not all tracepoints: "+
			"probes that were added to a running kernel cannot be counted, nor can ftrace's own records")
	}
	return err
}

// checkTracepoint refuses what tracefs does not list.
func checkTracepoint(spec point.Spec) error {
	names, err := tracepoint.Open()
	if err != nil {
		return err
	}
	return errors.Join(names.Check(spec.Category, spec.Event), names.Close())
}

// Hook is a point that a recording has although it is no place in the program: a system call, or the end of a process.
type Hook struct {
	Of   uint32 // the point
	Edge point.Edge
	Exit bool
	Call int // the system call's number
	Over bool
}

// HooksOf finds those of the points that are none of the program's places.
func HooksOf(points []point.Spec, latencies []point.Latency) (all []Hook, err error) {
	for i, spec := range points {
		h := Hook{Of: uint32(i), Exit: spec.Kind == point.Exit}
		name, over, isCall := callOf(spec)
		switch {
		case isCall:
			if spec.Kind == point.Tracepoint {
				err = checkTracepoint(spec)
			}
			if err == nil {
				h.Call, err = tracepoint.Syscall(name)
			}
			if err != nil {
				return nil, fmt.Errorf("recording progress point %s: %w", spec.Text, err)
			}
			h.Over = over
		case !h.Exit:
			continue
		}
		h.Edge = EdgeOf(i, points, latencies)
		all = append(all, h)
	}
	return all, nil
}

// callOf is the system call that a point is, if it is one.
func callOf(spec point.Spec) (name string, over, isCall bool) {
	switch spec.Kind {
	case point.Syscall:
		return spec.Event, spec.AtExit, true
	case point.Tracepoint:
		return tracepoint.SyscallOf(spec.Category, spec.Event)
	}
	return "", false, false
}

// checkLine refuses a line that has no code in the programs and their libraries. If one of the programs has no symbols
// it is not known: that program may start another one that has the line.
func checkLine(spec point.Spec, programs []Program) error {
	if !HaveSymbols(programs) {
		return nil
	}
	return InAny(programs, func(p Program) error { return point.CheckLine(spec, p) })
}
