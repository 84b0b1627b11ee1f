package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

func (s *study) text(o outcome) string {
	when := fmt.Sprintf("%.1f s", o.curve)
	if math.IsInf(o.curve, 1) {
		when = fmt.Sprintf("not within %v", s.limit)
	}
	return fmt.Sprintf("%s: %s, gain at %d%% %.1f ± %.1f", when, o.unit, at, o.gain.Value, o.gain.Half())
}

// write prints the table, and the medians with their targets.
func (s *study) write(w io.Writer, results []result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "seconds until the leading unit's gain at %d%% is known to ±%g points, median of %d\n\n",
		at, s.half, s.rounds)
	fmt.Fprintln(tw, "program\tleading unit\tpaper's, that speed-up by itself\tpaper's, with our curve\twhatif"+
		"\tsooner than by itself\tthan with our curve")
	var ours, thanSingle, thanCurve []float64
	for _, r := range results {
		single, curve, own := middle(r.by[0], ofSingle), middle(r.by[0], ofCurve), middle(r.by[1], ofCurve)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.program.name, r.by[1][0].unit,
			s.seconds(single), s.seconds(curve), s.seconds(own), s.times(single, own), s.times(curve, own))
		ours = append(ours, own)
		thanSingle = append(thanSingle, math.Min(single, s.limit.Seconds())/own)
		thanCurve = append(thanCurve, math.Min(curve, s.limit.Seconds())/own)
	}
	fmt.Fprintf(tw, "\nmedian of the programs: %s s, at least %.1f times sooner than the paper's plan with the speed-up "+
		"by itself, %.1f than with our curve; wanted: 30 s at most, 5 times sooner\n",
		s.seconds(median(ours)), median(thanSingle), median(thanCurve))
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

// seconds formats a time; +Inf is longer than the limit.
func (s *study) seconds(x float64) string {
	if math.IsInf(x, 1) {
		return fmt.Sprintf("> %.0f", s.limit.Seconds())
	}
	return fmt.Sprintf("%.1f", x)
}

func (s *study) times(paper, own float64) string {
	switch {
	case math.IsInf(own, 1):
		return "?"
	case math.IsInf(paper, 1):
		return fmt.Sprintf("> %.1f", s.limit.Seconds()/own)
	}
	return fmt.Sprintf("%.1f", paper/own)
}

func ofCurve(o outcome) float64  { return o.curve }
func ofSingle(o outcome) float64 { return o.single }

func middle(all []outcome, of func(outcome) float64) float64 {
	var x []float64
	for _, o := range all {
		x = append(x, of(o))
	}
	return median(x)
}

// median is the median, or the upper one of the two values in the middle.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
