package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/symbol"
	"whatif/internal/tracepoint"
)

// measureVisit finds out what counting a visit costs, now that nothing is a target yet: a program
// or a library that comes later may be the first that has a point of the user's.
func (s *session) measureVisit() error {
	if !slices.ContainsFunc(s.cfg.Points, func(p point.Spec) bool {
		return p.Probed() || p.Kind == point.Syscall || p.Kind == point.Tracepoint || p.Kind == point.Source && len(s.cfg.Latencies) > 0
	}) {
		return nil
	}
	return s.ledger.MeasureVisit()
}

// hook has those progress points counted that are not probed in the program's code.
func (s *session) hook(programs []program) error {
	if slices.ContainsFunc(s.cfg.Points, func(p point.Spec) bool { return p.Kind == point.Syscall || p.Kind == point.Tracepoint }) {
		if err := s.ledger.MeasureHooks(); err != nil {
			return err
		}
	}
	for i, spec := range s.cfg.Points {
		var err error
		switch spec.Kind {
		case point.Syscall:
			err = s.hookCall(i, spec.Event, spec.AtExit)
		case point.Tracepoint:
			err = s.hookTracepoint(i, spec)
		case point.Exit:
			s.ledger.CountExits(i)
		case point.Sample:
			err = checkLine(spec, programs)
		}
		if err != nil {
			return fmt.Errorf("counting progress point %s: %w", spec.Text, err)
		}
	}
	return nil
}

func (s *session) hookCall(i int, name string, over bool) error {
	number, err := tracepoint.Syscall(name)
	if err != nil {
		return err
	}
	return s.ledger.CountCalls(i, number, over)
}

func (s *session) hookTracepoint(i int, spec point.Spec) error {
	names, err := tracepoint.Open()
	if err == nil {
		err = names.Check(spec.Category, spec.Event)
		if closing := names.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return err
	}
	if call, atExit, ok := tracepoint.SyscallOf(spec.Category, spec.Event); ok {
		return s.hookCall(i, call, atExit)
	}
	err = s.ledger.CountTracepoint(i, spec.Event)
	if errors.Is(err, fs.ErrNotExist) {
		return hint.New(err, "what tracefs lists under "+spec.Category+" are not all tracepoints: probes that were added to a running kernel cannot be counted, nor can ftrace's own records")
	}
	return err
}

// checkExits warns of an exit point that only the program itself has visited, once an
// execution: its experiments all ended with it, and are set aside.
func (s *session) checkExits(visits []int64) {
	for i, spec := range s.cfg.Points {
		if spec.Kind == point.Exit && visits[i] > 0 && visits[i] <= int64(s.executions) {
			s.warn("exit-only-own", "progress point %s: no process ended but the program itself; without -p each execution is one experiment, which is what a batch program needs", spec.Name)
		}
	}
}

// checkLine refuses a line that has no code in the programs and their libraries; not if one
// has no symbols, as another that it starts may have the line.
func checkLine(spec point.Spec, programs []program) error {
	if !haveSymbols(programs) {
		return nil
	}
	return inAny(programs, func(p program) error { return point.CheckLine(spec, p) })
}

// sampledLine is the line of a sample: point.
type sampledLine struct {
	point int
	spec  point.Spec
}

func sampledLines(cfg *Config) []sampledLine {
	var lines []sampledLine
	for i, spec := range cfg.Points {
		if spec.Kind == point.Sample {
			lines = append(lines, sampledLine{i, spec})
		}
	}
	return lines
}

// pointOf gives the sampled point whose line an inline chain is in, at the innermost. Frames further
// out count, as with targets: what was inlined into the line is its work.
func pointOf(lines []sampledLine, frames []symbol.Frame) (i int, ok bool) {
	for _, f := range frames {
		for _, l := range lines {
			if f.Line == l.spec.Line && symbol.MatchFile(l.spec.File, f.File) {
				return l.point, true
			}
		}
	}
	return 0, false
}
