package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// runEstimates is the command with -estimates.
func runEstimates(ctx context.Context, o *options, stdout, stderr io.Writer) int {
	kept, err := readKept(o.keptFiles, o.chosen)
	if err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		return 1
	}
	results, failed := estimateAll(ctx, o, kept, stderr)
	rows := estimateTable(results)
	lines, missed := estimateLines(results)
	err = rows.writeText(stdout)
	fmt.Fprintf(stdout, "\n%s\n", strings.Join(lines, "\n"))
	if o.resultsFile != "" {
		how := fmt.Sprintf("Each program was recorded for %v, with nothing delayed.", o.record)
		if o.recordings != "" {
			how = "The recordings are those of an earlier run, in which nothing was delayed."
		}
		err = errors.Join(err, o.writeResults(how, rows, lines))
	}
	if err := errors.Join(err, o.writeJSON(results)); err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		failed = true
	}
	for _, m := range missed {
		if o.check {
			fmt.Fprintf(stderr, "accuracy: missed: %s\n", m)
			failed = true
		}
	}
	if failed {
		return 1
	}
	return 0
}

// readKept reads the results of earlier runs, which -json has written, for the chosen programs.
func readKept(files []string, chosen []program) ([]result, error) {
	var all []result
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading kept results: %w", err)
		}
		var some []result
		if err := json.Unmarshal(text, &some); err != nil {
			return nil, fmt.Errorf("reading kept results: %s: %w", file, err)
		}
		all = append(all, some...)
	}
	isChosen := func(r result) bool {
		return slices.ContainsFunc(chosen, func(p program) bool { return p.name == r.Program })
	}
	kept := slices.DeleteFunc(all, func(r result) bool { return !isChosen(r) })
	if len(kept) == 0 {
		return nil, fmt.Errorf("reading kept results: %s: none of the chosen programs", strings.Join(files, ", "))
	}
	return kept, nil
}

// estimateAll records each program that has kept results, and puts the estimates beside them. If a program fails it
// goes on, so that the results of the others are not lost.
func estimateAll(ctx context.Context, o *options, kept []result, stderr io.Writer) (results []result, failed bool) {
	if err := errors.Join(adoptOrphans(), shareCalibration()); err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		return nil, true
	}
	for i := range o.chosen {
		p := &o.chosen[i]
		var its []result
		for _, r := range kept {
			if r.Program == p.name {
				its = append(its, r)
			}
		}
		if len(its) == 0 {
			continue
		}
		if err := o.estimate(ctx, p, its, stderr); err != nil {
			fmt.Fprintf(stderr, "accuracy: %v\n", err)
			failed = true
			continue
		}
		results = append(results, its...)
		if ctx.Err() != nil {
			return results, true
		}
	}
	return results, failed
}

// estimate records a program, or takes its recording of an earlier run, and adds what whatif then estimates to the
// program's kept results.
func (o *options) estimate(ctx context.Context, p *program, kept []result, stderr io.Writer) error {
	predictor, err := o.recorded(ctx, p, stderr)
	if err != nil {
		return err
	}
	for i := range kept {
		r := &kept[i]
		metric := r.Metric
		if metric == "" {
			metric = throughput
		}
		a, _, err := predictor.answer(ctx, metric)
		if err != nil {
			return err
		}
		r.Refused = a.refused
		for j := range r.Levels {
			r.Levels[j].Estimate = nil
			if e, ok := a.estimated[r.Levels[j].Level]; ok {
				r.Levels[j].Estimate = &e
			}
		}
	}
	return nil
}

// recorded is a predictor of a program that has a recording.
func (o *options) recorded(ctx context.Context, p *program, stderr io.Writer) (*predictor, error) {
	pl := &o.plan
	if o.recordings != "" {
		return keptPredictor(pl.whatif, pl.root, o.recordings, p, pl.levels)
	}
	fmt.Fprintf(stderr, "%s %s: recording, %v\n", time.Now().Format("15:04:05"), p.name, o.record)
	built, err := build(ctx, pl.root, p, false)
	if err != nil {
		return nil, err
	}
	predictor, err := newPredictor(pl.whatif, p, built, pl.levels)
	if err != nil {
		return nil, err
	}
	return predictor, predictor.record(ctx, o.record)
}

// estimateTable has one row for each result: the truth, what was estimated, what experiments and coz had predicted.
func estimateTable(results []result) table {
	rows := table{{"program", "truth " + levelNames(results), "estimated [95% interval]", "error", "within",
		"experiments", "their error", "coz's error"}}
	for i := range results {
		r := &results[i]
		inside, of := r.estimatesWithin()
		estimated := eachLevel(r, estimateCell)
		if r.Refused != "" {
			estimated = "refused: " + r.Refused
		}
		rows = append(rows, []string{r.name(), eachLevel(r, truthCell), estimated, number(r.estimateError()),
			fmt.Sprintf("%d/%d", inside, of), eachLevel(r, gainCell), number(r.errorOf()), number(r.cozError())})
	}
	return rows
}

func estimateCell(l levelResult) string { return intervalCell(l.Estimate) }

func gainCell(l levelResult) string {
	if l.Prediction == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f", l.Prediction.Gain)
}

// estimateSummary has the figures of estimates over some programs. Each has the same weight.
type estimateSummary struct {
	programs, refused int
	meanError         float64 // over those that are not refused
	inside, of        int
	width             float64 // the mean width of the intervals
}

// summarizeEstimates averages the estimates of throughput over the programs that count.
func summarizeEstimates(results []result, counts func(*result) bool) estimateSummary {
	var s estimateSummary
	var sum, widths float64
	for i := range results {
		r := &results[i]
		if r.Metric != "" || !counts(r) {
			continue
		}
		s.programs++
		e := r.estimateError()
		if math.IsNaN(e) {
			s.refused++
			continue
		}
		sum += e
		inside, of := r.estimatesWithin()
		s.inside += inside
		s.of += of
		for _, l := range r.Levels {
			widths += l.Estimate.High - l.Estimate.Low
		}
	}
	s.meanError = sum / float64(s.programs-s.refused)
	s.width = widths / float64(s.of)
	return s
}

// hasGoroutines tells whether a program is written in Go.
func hasGoroutines(r *result) bool {
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == r.Program })
	return i >= 0 && strings.HasSuffix(programs[i].source, ".go")
}

// estimateGroups are the programs about which the summary has a line each, and the error that they are allowed.
var estimateGroups = []struct {
	name   string
	counts func(*result) bool
	error  float64
}{
	{"all programs", func(*result) bool { return true }, 4},
	{"programs that do not wait busily", func(r *result) bool { return r.Kind != spinning }, 2.5},
	{"programs with goroutines", hasGoroutines, 4},
}

// Further limits of estimates: the share of programs that may be refused, and of intervals that contain the truth.
const mostRefused, leastCovered = 0.15, 0.9

// leaveOneOut says how well intervals hold the truth of a program that had no part in their width: all are made wider
// or narrower by the factor with which leastCovered of the levels of the other programs hold.
func leaveOneOut(results []result) string {
	type level struct{ program, factor, width float64 }
	var all []level
	for i := range results {
		r := &results[i]
		if r.Metric != "" {
			continue
		}
		for _, l := range r.Levels {
			if l.Estimate == nil || !(l.Estimate.High > l.Estimate.Low) {
				continue
			}
			half, other := (l.Estimate.High-l.Estimate.Low)/2, (l.Truth.High-l.Truth.Low)/2
			need := math.Sqrt(max(0, math.Pow(l.Estimate.Gain-l.Truth.Gain, 2)-other*other))
			all = append(all, level{float64(i), need / half, 2 * half})
		}
	}
	slices.SortFunc(all, func(a, b level) int { return cmp.Compare(a.factor, b.factor) })
	inside, width, least, most := 0, 0.0, math.Inf(1), 0.0
	for _, l := range all {
		others := slices.DeleteFunc(slices.Clone(all), func(o level) bool { return o.program == l.program })
		if len(others) == 0 {
			return ""
		}
		factor := others[int(math.Ceil(leastCovered*float64(len(others))))-1].factor
		if l.factor <= factor {
			inside++
		}
		width += factor * l.width
		least, most = min(least, factor), max(most, factor)
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("leaving one program out: intervals that are %.2f to %.2f times as wide, as the other programs "+
		"need it, contain the truth at %d of %d levels (%.0f%%), and are %.1f points wide", least, most, inside, len(all),
		100*float64(inside)/float64(len(all)), width/float64(len(all)))
}

// estimateLines gives the summary in sentences, and the limits that are missed.
func estimateLines(results []result) (lines, missed []string) {
	for _, g := range estimateGroups {
		s := summarizeEstimates(results, g.counts)
		if s.programs == 0 {
			continue
		}
		line := fmt.Sprintf("%s: %d, of which %d are refused; mean error of the others %s points, at most %g allowed",
			g.name, s.programs, s.refused, number(s.meanError), g.error)
		if s.of > 0 {
			line += fmt.Sprintf("; intervals, %.1f points wide, that contain the truth: %d of %d (%.0f%%)",
				s.width, s.inside, s.of, 100*float64(s.inside)/float64(s.of))
		}
		lines = append(lines, line)
		if s.meanError > g.error || s.refused == s.programs {
			missed = append(missed, line)
		}
	}
	if line := leaveOneOut(results); line != "" {
		lines = append(lines, line)
	}
	s := summarizeEstimates(results, estimateGroups[0].counts)
	if float64(s.refused) > mostRefused*float64(s.programs) {
		missed = append(missed, fmt.Sprintf("%d of %d programs are refused, at most %.0f%% allowed", s.refused, s.programs,
			100*mostRefused))
	}
	if s.of > 0 && float64(s.inside) < leastCovered*float64(s.of) {
		missed = append(missed, fmt.Sprintf("%d of %d intervals contain the truth, %.0f%% expected", s.inside, s.of,
			100*leastCovered))
	}
	return lines, missed
}
