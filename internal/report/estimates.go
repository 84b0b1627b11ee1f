package report

import (
	"fmt"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// estimateMark is in front of gains that were not tested.
const estimateMark = "~"

// estimatedWords explains verdicts of estimates.
var estimatedWords = map[analyze.Verdict]string{
	analyze.Faster: "optimize: the program would gain",
	analyze.Slower: "backfires: the program would become slower",
	analyze.None:   "no effect",
	analyze.Unsure: "unclear: the intervals are too wide to tell",
}

// gainCell is the gain at a speed-up as experiments say or, if they do not, as a recording says.
func gainCell(e *analyze.Effect, speedup int) string {
	g, known, estimated := GainAt(e, speedup)
	switch {
	case estimated:
		return estimateMark + boundedGain(g, e.EstimateBound)
	case known:
		return testedGain(e, g)
	}
	return gain(g, false)
}

// boundMark is in front of gains that are upper bounds.
const boundMark = "≤"

// testedGain is a gain as experiments say.
func testedGain(e *analyze.Effect, g analyze.Estimate) string { return boundedGain(g, e.UpperBound) }

// boundedGain is a gain, or an upper bound: the end of the interval, as the true gain may be there at most.
func boundedGain(g analyze.Estimate, isBound bool) string {
	if isBound && g.Known && g.Bounded && finite(g.High) {
		return boundMark + number(g.High, digits(g))
	}
	return gain(g, g.Known)
}

// boundsLegend explains the mark.
func boundsLegend(p *printer, rows []row) {
	isBound := func(cell string) bool { return strings.Contains(cell, p.plain(boundMark)) }
	if slices.ContainsFunc(rows, func(rw row) bool { return slices.ContainsFunc(rw.cells[colMark:], isBound) }) {
		p.hanging("  "+boundMark+"       ", "an upper bound: clients that whatif does not control may not ask for more, so "+
			"the program may gain less")
	}
}

// hasEstimates says whether a recording says something of a unit.
func hasEstimates(effects []analyze.Effect) bool {
	return slices.ContainsFunc(effects, func(e analyze.Effect) bool { return len(e.Estimated) > 0 })
}

// hasAnswers says whether there are estimates, or reasons why there are none.
func hasAnswers(effects []analyze.Effect) bool {
	return slices.ContainsFunc(effects, func(e analyze.Effect) bool { return len(e.Estimated) > 0 || e.Refused != "" })
}

// refusal is why nothing is known of an effect; "" if something is.
func refusal(e *analyze.Effect) string {
	if e.Basis() == analyze.Nothing {
		return e.Refused
	}
	return ""
}

// NoPoints is said instead of gains, where no progress point was counted.
const NoPoints = "no progress point was counted, so there are no gains: run it again with -p POINT; " +
	"whatif points PROGRAM lists what can be given"

// noRows says that a table would be empty.
func noRows(r *analyze.Result, where string) string {
	if r.Estimates != nil {
		return fmt.Sprintf("no unit was tried for %s, and none has enough of the recorded time for an estimate", where)
	}
	return "no unit was tried for " + where
}

// estimatesLegend explains the mark, and says once why rows have no estimate.
func estimatesLegend(p *printer, r *analyze.Result, rows []row) {
	if r.Estimates == nil {
		return
	}
	isMarked := func(cell string) bool { return strings.HasPrefix(cell, estimateMark) }
	if slices.ContainsFunc(rows, func(rw row) bool { return slices.ContainsFunc(rw.cells[colMark:], isMarked) }) {
		p.hanging("  "+estimateMark+"       ", fmt.Sprintf("not tested: estimated from %.1f s in which nothing was delayed",
			r.Estimates.Seconds))
	}
	said := []string{r.Estimates.Refused} // a warning has that
	for _, rw := range rows {
		if rw.refused != "" && !slices.Contains(said, rw.refused) {
			said = append(said, rw.refused)
			p.hanging("no estimate: ", clean(rw.refused))
		}
	}
}

// recordedText says what there is besides, or instead of, experiments.
func recordedText(r *analyze.Result) string {
	return fmt.Sprintf("recorded %.1f s, in which nothing was delayed", r.Estimates.Seconds)
}
