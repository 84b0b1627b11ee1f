package report

import (
	"fmt"
	"math"
	"strings"

	"whatif/internal/analyze"
)

// latencyWords explains verdicts on latencies.
var latencyWords = map[analyze.Verdict]string{
	analyze.Faster: "optimize: latency falls",
	analyze.Slower: "backfires: if this is faster, latency rises",
	analyze.None:   "no effect: nobody waits for it",
	analyze.Unsure: "unclear: the intervals are too wide to tell",
}

// latencyMark is the speed-up of the gains in a latency's table.
const latencyMark = 50

// latencyText describes a latency without speed-ups.
func latencyText(l *analyze.Latency) string {
	text := clean(l.Name) + ": "
	if l.Mean == 0 {
		return text + "not known"
	}
	text += "mean " + analyze.Duration(l.Mean)
	for i, q := range l.Quantiles {
		text += fmt.Sprintf(", %s %s", analyze.Quantiles[i].Metric, analyze.Duration(q))
	}
	text += fmt.Sprintf("; %s under way on average", figure(l.InSystem))
	switch {
	case l.Counted && l.Found:
		text += "; its percentiles are measured with -l " + clean(l.Name)
	case l.Counted:
		text += "; no percentiles, because its points are only counted"
	}
	if l.LeftOut > 0 {
		text += fmt.Sprintf("; %s left out, with requests that had begun before", count(l.LeftOut, "experiment"))
	}
	return text
}

// latencyTable writes what the units do to a latency: a column for the mean and for each quantile,
// all at one speed-up.
func latencyTable(p *printer, r *analyze.Result, l *analyze.Latency, opt Options) {
	name, file := unitNames(unitsOf(r)), fileNames(unitsOf(r))
	var rows []row
	advice := ""
	heads := latencyHeads(l)
	for i := range r.Targets {
		t := &r.Targets[i]
		effects := latencyEffects(t, l)
		if len(effects) == 0 || t.Tried == 0 && !hasAnswers(t.Effects) {
			continue
		}
		place := name(t.Unit)
		rw := startRow(len(rows)+1, place, functionOf(t.Unit, file), t)
		for _, head := range heads {
			cell := "–"
			for _, e := range effects {
				if columnOf(e.Metric) == head {
					cell = gainCell(e, latencyMark)
				}
			}
			rw.cells = append(rw.cells, cell)
		}
		rw.verdictOf(effects[0])
		rw.curve = smallCurve(effects[0])
		rw.refused = refusal(effects[0])
		rw.notes = latencyNotes(effects)
		rows = append(rows, rw)
		if advice == "" {
			advice = adviceOn(place, l, effects)
		}
	}
	if len(rows) == 0 {
		p.line(noRows(r, "latency "+clean(l.Name)))
		return
	}
	more := 0
	if opt.Top > 0 && len(rows) > opt.Top {
		more = len(rows) - opt.Top
		rows = rows[:opt.Top]
	}
	p.hanging("", fmt.Sprintf("less latency of %s, in percent, if code were %d%% faster; the verdict is on the mean:",
		clean(l.Name), latencyMark))
	writeRows(p, rows, heads, min(colMark+1, colMark+len(heads)-1))
	if more > 0 {
		p.line(fmt.Sprintf("… and %s more", count(more, "unit")))
	}
	estimatesLegend(p, r, rows)
	if advice != "" {
		p.hanging("", advice)
	}
	writeNotes(p, rows)
}

// latencyHeads are the columns, in the order of the page: first the mean, which the verdict is
// about. If there is no room for all, the second is left out.
func latencyHeads(l *analyze.Latency) (heads []string) {
	heads = []string{columnOf(analyze.MeanLatency)}
	for i := range l.Quantiles {
		heads = append(heads, columnOf(analyze.Quantiles[i].Metric))
	}
	return heads
}

// latencyNotes are the doubts about a unit's effects, each once.
func latencyNotes(effects []*analyze.Effect) (notes []string) {
	seen := map[string]bool{}
	for _, e := range effects {
		for _, w := range e.Warnings {
			if !seen[w.Text] {
				seen[w.Text] = true
				notes = append(notes, columnOf(e.Metric)+": "+clean(w.Text))
			}
		}
	}
	return notes
}

// columnOf is the head of a metric's column.
func columnOf(m analyze.Metric) string {
	if m == analyze.MeanLatency {
		return "mean"
	}
	return string(m)
}

// latencyEffects are a target's effects on a latency.
func latencyEffects(t *analyze.Target, l *analyze.Latency) (effects []*analyze.Effect) {
	for i := range t.Effects {
		if e := &t.Effects[i]; e.Point == l.End && e.Metric != analyze.Throughput {
			effects = append(effects, e)
		}
	}
	return effects
}

// adviceOn says in a sentence what a unit that certainly helps would do.
func adviceOn(place string, l *analyze.Latency, effects []*analyze.Effect) string {
	var parts []string
	for i := len(effects) - 1; i >= 0; i-- {
		e := effects[i]
		g, known := e.At(latencyMark)
		if e.Verdict != analyze.Faster || !known || !g.Bounded || g.Low <= 0 || math.IsNaN(g.Value) {
			continue
		}
		if e.Metric == analyze.MeanLatency || e.Metric == analyze.P99 {
			parts = append(parts, fmt.Sprintf("the %s of %s would fall by %s%% (±%s)",
				columnOf(e.Metric), clean(l.Name), number(g.Value, 0), number(max(1, g.Half()), 0)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("If %s were %d%% faster, %s.", clean(place), latencyMark, strings.Join(parts, ", and "))
}
