package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"whatif/accuracy/kernels/internal/said"
)

// table tells for each kernel what works.
type table struct{ rows []row }

type row struct {
	kernel  kernel
	results []said.Result
	err     error // the reason if not all trials were made
}

func (t *table) add(k kernel, results []said.Result, err error) {
	t.rows = append(t.rows, row{k, results, err})
}

// write writes the table, and below it the reasons of failures.
func (t *table) write(w io.Writer) error {
	var trials []string
	for _, r := range t.rows {
		for _, result := range r.results {
			if !slices.Contains(trials, result.Name) {
				trials = append(trials, result.Name)
			}
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "kernel\t%s\n", strings.Join(trials, "\t"))
	var why strings.Builder
	for _, r := range t.rows {
		cells := []string{r.kernel.release}
		for _, trial := range trials {
			cells = append(cells, r.cell(trial, &why))
		}
		if r.err != nil {
			fmt.Fprintf(&why, "%s: %v\n", r.kernel.release, r.err)
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	if _, err := fmt.Fprint(w, "\n"+why.String()); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func (r *row) cell(trial string, why *strings.Builder) string {
	i := slices.IndexFunc(r.results, func(result said.Result) bool { return result.Name == trial })
	if i < 0 {
		return "not tried"
	}
	result := r.results[i]
	if result.OK {
		return "ok"
	}
	fmt.Fprintf(why, "%s: %s: %s\n", r.kernel.release, trial, result.Text)
	return "no"
}
