package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/spread"
)

// study says how much to measure, and with which rig.
type study struct {
	rig     *rig.Rig
	rounds  int
	seconds float64
}

// cost is the cost of a visit of a kind, in nanoseconds.
type cost struct {
	kind
	ns spread.Summary
}

// measure makes all runs: one of each kind in a round, and one without a cost before and after the round, with which
// they are compared.
func (s *study) measure(ctx context.Context) ([]cost, error) {
	program, err := s.rig.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	differences := make([][]float64, len(kinds))
	before, err := s.roundTime(ctx, program, nothing)
	if err != nil {
		return nil, err
	}
	for range s.rounds {
		with := make([]float64, len(kinds))
		for i, k := range kinds {
			if with[i], err = s.roundTime(ctx, program, k); err != nil {
				return nil, err
			}
		}
		after, err := s.roundTime(ctx, program, nothing)
		if err != nil {
			return nil, err
		}
		for i := range kinds {
			differences[i] = append(differences[i], with[i]-(before+after)/2)
		}
		before = after
	}
	costs := make([]cost, len(kinds))
	for i, k := range kinds {
		if k.spec, err = s.spec(k); err != nil {
			return nil, err
		}
		costs[i] = cost{k, spread.Of(differences[i])}
	}
	return costs, nil
}

// spec is a kind's point, with the number of the line in place of visitMark.
func (s *study) spec(k kind) (string, error) {
	file, marked := strings.CutSuffix(k.spec, visitMark)
	if !marked {
		return k.spec, nil
	}
	line, err := s.rig.Line(source, visitMark)
	return file + strconv.Itoa(line), err
}

// roundTime is the time of a round while a kind's point is counted, in nanoseconds.
func (s *study) roundTime(ctx context.Context, program string, k kind) (float64, error) {
	spec, err := s.spec(k)
	if err != nil {
		return 0, err
	}
	p, err := s.rig.Whatif(ctx, []string{"-s", "0", "-p", spec}, program, strconv.FormatFloat(s.seconds, 'f', -1, 64))
	if err != nil {
		return 0, err
	}
	want := k.visits * p.Said.Visits()
	if k == nothing {
		want = 1
	}
	// The program's start makes some system calls, too.
	const start = 200
	if got := p.Visits(); got < want || got > want && (k.spec != everyCall || got > want+start) {
		return 0, fmt.Errorf("measuring %s: whatif counted %d visits, the program made %d", k.spec, got, want)
	}
	return p.Said["round"], nil
}

func write(w io.Writer, costs []cost) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "kind\tpoint\tcost of a visit\t95% interval")
	for _, c := range costs {
		between := fmt.Sprintf("%.0f to %.0f ns", c.ns.Low, c.ns.High)
		if c.ns.Level < 0.95 {
			between += fmt.Sprintf(" (range of %d)", c.ns.N)
		}
		fmt.Fprintf(tw, "%s\t%s\t%.0f ns\t%s\n", c.name, c.spec, c.ns.Median, between)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}
