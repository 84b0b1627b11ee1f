package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"whatif/accuracy/internal/spread"
)

// Programs with points in the source. They measure the cost of a visit, with and without whatif, and the loss of a
// program that visits a point a million times a second.
const (
	million = "points/programs/million.c"
	goTight = "points/programs/gotight"
)

// figure is one line of the second table.
type figure struct {
	name, unit string
	value      spread.Summary
	most       float64 // the target
}

// measureSource measures the cost of points in the source. Runs of all kinds alternate, because the speed of a shared
// machine drifts.
func (s *study) measureSource(ctx context.Context) ([]figure, error) {
	inC, err := s.rig.Compile(ctx, million)
	if err != nil {
		return nil, err
	}
	inGo, err := s.rig.Compile(ctx, goTight)
	if err != nil {
		return nil, err
	}
	seconds := strconv.FormatFloat(s.seconds, 'f', -1, 64)
	var each [4][]float64
	var off, on []float64
	for range s.rounds {
		for i, args := range [][]string{
			{inC, "1", seconds, "tight"}, {inC, "2", seconds, "tight"}, {inGo, "1", seconds}, {inGo, "2", seconds},
		} {
			rate, err := s.bareRate(ctx, args...)
			if err != nil {
				return nil, err
			}
			threads, err := strconv.ParseFloat(args[1], 64)
			if err != nil {
				return nil, fmt.Errorf("measuring the cost of a visit: %w", err)
			}
			each[i] = append(each[i], threads*1e9/rate)
		}
		without, err := s.bareRate(ctx, inC, "1", seconds, "without")
		if err != nil {
			return nil, err
		}
		with, err := s.bareRate(ctx, inC, "1", seconds, "with")
		if err != nil {
			return nil, err
		}
		off = append(off, 100*(1-with/without))
		if without, err = s.profiledRate(ctx, "exit", inC, "1", seconds, "without"); err != nil {
			return nil, err
		}
		if with, err = s.profiledRate(ctx, "rounds", inC, "1", seconds, "with"); err != nil {
			return nil, err
		}
		on = append(on, 100*(1-with/without))
	}
	return []figure{
		{"a visit in C, one thread", "ns", spread.Of(each[0]), 2},
		{"a visit in C, two threads", "ns", spread.Of(each[1]), 10},
		{"a visit in Go, one thread", "ns", spread.Of(each[2]), 2},
		{"a visit in Go, two threads", "ns", spread.Of(each[3]), 10},
		{"throughput lost by a million visits a second", "%", spread.Of(off), 1},
		{"the same under whatif", "%", spread.Of(on), 1},
	}, nil
}

func (s *study) bareRate(ctx context.Context, args ...string) (float64, error) {
	b, err := s.rig.Bare(ctx, args...)
	if err != nil {
		return 0, err
	}
	return b.Said.Rate(), nil
}

// profiledRate is the rate under whatif, which counts a point.
func (s *study) profiledRate(ctx context.Context, point string, args ...string) (float64, error) {
	p, err := s.rig.Whatif(ctx, []string{"-s", "0", "-p", point}, args...)
	if err != nil {
		return 0, err
	}
	if point == "rounds" && p.Visits() != p.Said.Visits() {
		return 0, fmt.Errorf("measuring the throughput: whatif counted %d visits, the program made %d",
			p.Visits(), p.Said.Visits())
	}
	return p.Said.Rate(), nil
}

func writeSource(w io.Writer, figures []figure) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "point in the source\tmeasured\t95% interval\ttarget")
	for _, f := range figures {
		between := fmt.Sprintf("%.2f to %.2f %s", f.value.Low, f.value.High, f.unit)
		if f.value.Level < 0.95 {
			between += fmt.Sprintf(" (range of %d)", f.value.N)
		}
		fmt.Fprintf(tw, "%s\t%.2f %s\t%s\t<= %g %s\n", f.name, f.value.Median, f.unit, between, f.most, f.unit)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}
