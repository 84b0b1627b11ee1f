package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Targets: how far an answer may be from the truth, in points. What a program does on another number of cores is less
// well known than what it does if code is faster.
const (
	mostOff      = 4.0
	mostCoresOff = 8.0
)

// most is how far this answer may be off.
func (r *row) most() float64 {
	if r.question.cores > 0 {
		return mostCoresOff
	}
	return mostOff
}

// off is how far the answer is from the truth; NaN: there is none.
func (r *row) off() float64 { return math.Abs(r.answer.value - r.truth.value) }

// testedOff is the same of what experiments say.
func (r *row) testedOff() float64 { return math.Abs(r.tested.value - r.truth.value) }

// testedCells are the cells of a row about experiments.
func (r *row) testedCells() string {
	if r.tested == nil {
		return "–\t\t–"
	}
	return fmt.Sprintf("%.1f\t%.0f..%.0f\t%.1f", r.tested.value, r.tested.low, r.tested.high, r.testedOff())
}

func (r *row) verdict() string {
	switch off := r.off(); {
	case r.refused != "":
		return "refused: " + r.refused
	case off <= r.most():
		return "held"
	default:
		return fmt.Sprintf("missed by %.1f", off-r.most())
	}
}

// write prints a line for each question.
func write(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "program\tquestion\ttruth\t[95% interval]\twhatif ask\t[95% interval]\toff by\t"+
		"experiments\t[95% interval]\toff by\tat most\task is\t")
	for i := range rows {
		r := &rows[i]
		answer, interval, off := "–", "", "–"
		if r.refused == "" {
			answer, interval = fmt.Sprintf("%.1f", r.answer.value), fmt.Sprintf("%.0f..%.0f", r.answer.low, r.answer.high)
			off = fmt.Sprintf("%.1f", r.off())
		}
		fmt.Fprintf(tw, "%s\t%s\t%.1f\t%.0f..%.0f\t%s\t%s\t%s\t%s\t%g\t%s\n", r.program, r.question, r.truth.value,
			r.truth.low, r.truth.high, answer, interval, off, r.testedCells(), r.most(), r.verdict())
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

// verdicts says of both kinds of questions, and of experiments, how many answers hold. Each answer has to. missed has
// the kinds in which one does not.
func verdicts(rows []row) (lines, missed []string) {
	lines, missed = askVerdicts(rows)
	held, of, sum := 0, 0, 0.0
	for i := range rows {
		r := &rows[i]
		if r.tested == nil {
			continue
		}
		of++
		sum += r.testedOff()
		if r.testedOff() <= r.most() {
			held++
		}
	}
	if of == 0 {
		return lines, missed
	}
	line := fmt.Sprintf("two lines at once, by experiments: %d of %d are close enough, mean error %.1f points", held, of,
		sum/float64(of))
	if held < of {
		missed = append(missed, line)
	}
	return append(lines, line), missed
}

// askVerdicts are those of whatif ask.
func askVerdicts(rows []row) (lines, missed []string) {
	for _, kind := range []struct {
		name  string
		cores bool
	}{{"two lines at once", false}, {"one core instead of two", true}} {
		held, of, sum, answered := 0, 0, 0.0, 0
		for i := range rows {
			r := &rows[i]
			if (r.question.cores > 0) != kind.cores {
				continue
			}
			of++
			if r.refused == "" {
				answered++
				sum += r.off()
			}
			if r.refused == "" && r.off() <= r.most() {
				held++
			}
		}
		if of == 0 {
			continue
		}
		word := "held"
		if held < of {
			word = fmt.Sprintf("missed by %d", of-held)
		}
		line := fmt.Sprintf("%s: %d of %d answers are close enough, mean error %.1f points: %s", kind.name, held, of,
			sum/float64(answered), word)
		lines = append(lines, line)
		if held < of {
			missed = append(missed, line)
		}
	}
	return lines, missed
}
