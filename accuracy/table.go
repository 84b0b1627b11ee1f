package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// table is rows of cells; the first row is the heading.
type table [][]string

// resultTable has one row for each result. Columns that would be empty are left out.
func resultTable(results []result) table {
	var predicted, coz, modelled bool
	for i := range results {
		r := &results[i]
		modelled = modelled || r.model != nil
		for _, l := range r.Levels {
			predicted = predicted || l.Prediction != nil
			coz = coz || l.Coz != nil
		}
	}
	modelled = modelled && !predicted // the arithmetic is a check for the authors of programs
	heading := []string{"program", "truth " + levelNames(results)}
	if modelled {
		heading = append(heading, "arithmetic")
	}
	if predicted {
		heading = append(heading, "predicted [95% interval]", "error", "within")
	}
	if coz {
		heading = append(heading, "coz", "coz's error")
	}
	rows := table{append(heading, "disturbed")}
	for i := range results {
		r := &results[i]
		row := []string{r.name(), eachLevel(r, truthCell)}
		if modelled {
			row = append(row, modelCell(r.model))
		}
		if predicted {
			inside, of := r.covered()
			row = append(row, eachLevel(r, predictionCell), number(r.errorOf()), fmt.Sprintf("%d/%d", inside, of))
		}
		if coz {
			row = append(row, eachLevel(r, cozCell), number(r.cozError()))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f%%", 100*r.Disturbed)))
	}
	return rows
}

func levelNames(results []result) string {
	if len(results) == 0 {
		return ""
	}
	var names []string
	for _, l := range results[0].Levels {
		names = append(names, fmt.Sprint(l.Level))
	}
	return strings.Join(names, "/") + "%"
}

func eachLevel(r *result, cell func(levelResult) string) string {
	var cells []string
	for _, l := range r.Levels {
		cells = append(cells, cell(l))
	}
	return strings.Join(cells, ", ")
}

func truthCell(l levelResult) string {
	return fmt.Sprintf("%.1f±%.1f", l.Truth.Gain, (l.Truth.High-l.Truth.Low)/2)
}

func predictionCell(l levelResult) string { return intervalCell(l.Prediction) }

func intervalCell(e *estimate) string {
	if e == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f [%.1f..%.1f]", e.Gain, e.Low, e.High)
}

func cozCell(l levelResult) string {
	if l.Coz == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f", *l.Coz)
}

func modelCell(model []float64) string {
	var cells []string
	for _, gain := range model {
		cells = append(cells, fmt.Sprintf("%g", gain))
	}
	return strings.Join(cells, ", ")
}

// number formats an error in points; NaN is a dash.
func number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.1f", x)
}

// writeText prints aligned columns.
func (t table) writeText(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range t {
		fmt.Fprintln(aligned, strings.Join(row, "\t"))
	}
	if err := aligned.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// writeMarkdown prints a table for RESULTS.md.
func (t table) writeMarkdown(w io.Writer) error {
	for i, row := range t {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
		if i == 0 {
			fmt.Fprintf(w, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	return nil
}

// ranks tells at which places whatif has found targets that it was not told.
func ranks(results []result) (lines []string) {
	for i := range results {
		if r := &results[i]; r.ranked {
			lines = append(lines, fmt.Sprintf("%s: told only the point, whatif has the target at place %d", r.Program, r.Rank))
		}
	}
	return lines
}

// lines gives the summary in sentences.
func (s summary) lines() []string {
	if s.programs == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("mean absolute error over %d programs: %s points", s.programs, number(s.meanError)),
		fmt.Sprintf("worst program: %s, %s points", s.worstProgram, number(s.worstError)),
		fmt.Sprintf("intervals that contain the truth: %d of %d (%.0f%%)", s.inside, s.of,
			100*float64(s.inside)/float64(s.of)),
	}
	if s.missing > 0 {
		lines = append(lines, fmt.Sprintf("programs without a prediction: %d", s.missing))
	}
	if s.cozPrograms > 0 {
		lines = append(lines, fmt.Sprintf("on the %d programs that coz can run: %s points, coz %s: a ratio of %.2f",
			s.cozPrograms, number(s.ourSame), number(s.cozError), s.ourSame/s.cozError))
	}
	return lines
}
