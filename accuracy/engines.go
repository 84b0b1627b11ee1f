package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// engineError is the mean error, in points, up to which experiments or estimates are right about a program.
const engineError = 5

// disagreements are the warnings that say of a target or a point that experiments and the recording saw different
// programs, or say different things: docs/estimates.md.
var disagreements = []string{"estimate-differs", "shares-differ", "pace-differs"}

// judgeEngines says of each result how far off experiments and estimates are. missed has those of which neither is
// right, and those of which one is not and whatif does not warn. An estimate that is refused is a warning.
func judgeEngines(results []result) (lines, missed []string) {
	for i := range results {
		r := &results[i]
		if r.Metric != "" {
			continue
		}
		tested, estimated := r.errorOf(), r.estimateError()
		warned := slices.DeleteFunc(slices.Clone(r.Doubts), func(code string) bool {
			return !slices.Contains(disagreements, code)
		})
		if r.Refused != "" {
			warned = append(warned, "refused: "+r.Refused)
		}
		right := 0
		for _, e := range []float64{tested, estimated} {
			if e <= engineError {
				right++
			}
		}
		word := "held"
		switch {
		case math.IsNaN(tested) && math.IsNaN(estimated):
			word = "missed: there is no answer at every level"
		case right == 0:
			word = fmt.Sprintf("missed by %s", number(math.Min(orInf(tested), orInf(estimated))-engineError))
		case right == 1 && len(warned) == 0:
			word = "missed: there is no warning"
		}
		said := "no warning"
		if len(warned) > 0 {
			said = "warned of by " + strings.Join(warned, ", ")
		}
		line := fmt.Sprintf("%s: experiments are %s points off, estimates %s; at most %d by one of them wanted, and a "+
			"warning of the other: %s; %s", r.Program, number(tested), number(estimated), engineError, word, said)
		lines = append(lines, line)
		if word != "held" {
			missed = append(missed, line)
		}
	}
	return lines, missed
}

// orInf takes an error that is not known for an infinite one.
func orInf(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}
