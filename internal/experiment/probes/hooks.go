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
		switch {
		case isCall(spec):
			var number int
			var over bool
			if number, over, err = callOf(spec); err == nil {
				err = p.ledger.CountCalls(i, number, over)
			}
		case spec.Kind == point.Tracepoint:
			err = p.hookTracepoint(i, spec)
		case spec.Kind == point.Exit:
			p.ledger.CountExits(i)
		case spec.Kind == point.Sample:
			err = checkLine(spec, programs)
		}
		if err != nil {
			return fmt.Errorf("counting progress point %s: %w", spec.Text, err)
		}
	}
	return nil
}

func (p *Probes) hookTracepoint(i int, spec point.Spec) error {
	if err := checkTracepoint(spec); err != nil {
		return err
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
		switch {
		case isCall(spec):
			if h.Call, h.Over, err = callOf(spec); err != nil {
				return nil, fmt.Errorf("recording progress point %s: %w", spec.Text, err)
			}
		case !h.Exit:
			continue
		}
		h.Edge = EdgeOf(i, points, latencies)
		all = append(all, h)
	}
	return all, nil
}

// isCall tells whether a point is a system call, by its own name or by that of a tracepoint.
func isCall(spec point.Spec) bool {
	if spec.Kind == point.Tracepoint {
		_, _, is := tracepoint.SyscallOf(spec.Category, spec.Event)
		return is
	}
	return spec.Kind == point.Syscall
}

// callOf is the number of the system call that a point is, and whether its end counts.
func callOf(spec point.Spec) (number int, over bool, err error) {
	name, over := spec.Event, spec.AtExit
	if spec.Kind == point.Tracepoint {
		if err := checkTracepoint(spec); err != nil {
			return 0, false, err
		}
		name, over, _ = tracepoint.SyscallOf(spec.Category, spec.Event)
	}
	number, err = tracepoint.Syscall(name)
	return number, over, err
}

// checkLine refuses a line that has no code in the programs and their libraries. If one of the programs has no symbols
// it is not known: that program may start another one that has the line.
func checkLine(spec point.Spec, programs []Program) error {
	if !HaveSymbols(programs) {
		return nil
	}
	return InAny(programs, func(p Program) error { return point.CheckLine(spec, p) })
}
