package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"whatif/accuracy/internal/spread"
)

// row is one figure. If least or most is not 0, it is the target of the figure's median.
type row struct {
	figure      string
	unit        string
	format      string // of a number
	measured    spread.Summary
	least, most float64
}

type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// cells returns the row's texts: figure, median, interval, target, verdict.
func (r *row) cells() [5]string {
	number := func(v float64) string { return fmt.Sprintf(r.format, v) }
	c := [5]string{r.figure, number(r.measured.Median) + r.unit}
	if r.measured.N > 1 {
		c[2] = number(r.measured.Low) + " to " + number(r.measured.High) + r.unit
		if r.measured.Level < 0.95 {
			c[2] += fmt.Sprintf(" (range of %d)", r.measured.N)
		}
	}
	met := false
	switch {
	case r.least != 0:
		c[3], met = ">= "+fmt.Sprintf("%g", r.least)+r.unit, r.measured.Median >= r.least
	case r.most != 0:
		c[3], met = "<= "+fmt.Sprintf("%g", r.most)+r.unit, r.measured.Median <= r.most
	default:
		return c
	}
	c[4] = "MISSED"
	if met {
		c[4] = "ok"
	}
	return c
}

func (t *table) write(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "figure\tmeasured\t95% interval\ttarget\t")
	for i := range t.rows {
		c := t.rows[i].cells()
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", c[0], c[1], c[2], c[3], c[4])
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

// missed is an error with the figures that miss their targets; nil: there are none.
func (t *table) missed() error {
	var all []string
	for i := range t.rows {
		if c := t.rows[i].cells(); c[4] == "MISSED" {
			all = append(all, fmt.Sprintf("%s: %s, %s wanted", strings.TrimSpace(c[0]), c[1], c[3]))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("missed: %s", strings.Join(all, "; "))
}
