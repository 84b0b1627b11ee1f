package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"whatif/accuracy/internal/rig"
)

// write prints a line for each result, and below the table the losses and warnings that whatif reported.
func write(w io.Writer, results []result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "load\tasked for\tbare\twith whatif\tslower by\tcounted / own count\tmemory\ttables\twhat")
	for i := range results {
		fmt.Fprintln(tw, strings.Join(results[i].cells(), "\t"))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	fmt.Fprintln(w)
	for i := range results {
		if err := results[i].writeNotes(w); err != nil {
			return fmt.Errorf("printing the notes: %w", err)
		}
	}
	return nil
}

func (r *result) cells() []string {
	l, p := r.load, r.profiled
	asked := "all it can"
	if l.rate != 0 {
		asked = fmt.Sprintf("%d%s", l.rate, l.unit())
	}
	verdict := "wrong"
	if p.Visits() == p.Said.Visits() {
		verdict = "exact"
	}
	return []string{
		l.name, asked, l.reached(r.bare.Said), l.reached(p.Said),
		fmt.Sprintf("%.1f%%", 100*(r.bare.Said.Rate()/p.Said.Rate()-1)),
		fmt.Sprintf("%d / %d %s", p.Visits(), p.Said.Visits(), verdict),
		fmt.Sprintf("%d MiB", p.Use.PeakRSS>>20), fmt.Sprintf("%d MiB", p.Use.Maps>>20), l.what,
	}
}

func (l *load) unit() string {
	if l.achieved != "" {
		return ""
	}
	return "/s"
}

// reached is the rate or number that a run achieved.
func (l *load) reached(said rig.Said) string {
	if l.achieved != "" {
		return fmt.Sprintf("%.0f", said[l.achieved])
	}
	return fmt.Sprintf("%.0f/s", said.Rate()/float64(l.visits))
}

// writeNotes prints the figures that do not fit in the table.
func (r *result) writeNotes(w io.Writer) error {
	data := r.profiled.Data
	var samples int64
	for i := range data.Experiments {
		samples += data.Experiments[i].Samples
	}
	delayed, _ := r.profiled.Delays(0)
	notes := []string{fmt.Sprintf("%d samples; delays inserted: %.1f%% of the time", samples, 100*delayed)}
	if r.load.layouts {
		_, share := r.targetUnits()
		notes = append(notes, fmt.Sprintf("%.0f load addresses, one unit for the line, with %.0f%% of the samples",
			r.profiled.Said["layouts"], 100*share))
	}
	if data.End != nil {
		for _, name := range slices.Sorted(maps.Keys(data.End.Losses)) {
			notes = append(notes, fmt.Sprintf("lost: %d %s", data.End.Losses[name], name))
		}
	}
	for _, warning := range data.Warnings {
		notes = append(notes, "warning: "+warning.Text)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", r.load.name, strings.Join(notes, "; "))
	return err
}
