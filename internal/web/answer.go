package web

import (
	"fmt"

	"whatif/internal/analyze"
	"whatif/internal/report"
)

// An answer is the result of a view in a sentence.
type answer struct {
	Kind  string      `json:"kind"` // a verdict, or hopeless
	Unit  int         `json:"unit"` // place in index.Units; -1 for none
	Text  string      `json:"text"` // what to do; it follows the unit's name
	Gains [][2]string `json:"gains"`
	// Estimated says that the gains are from a recording, not from experiments.
	Estimated bool `json:"estimated,omitempty"`
}

// answer finds the first unit with a certain effect. Targets are ranked by their best effect at any
// point, so the first one for this view may be further down.
func (p *Page) answer(v *view, s int) answer {
	a := answer{Kind: "unsure", Unit: -1, Gains: [][2]string{}}
	for _, w := range append(p.index.Sides[s].Warnings, v.Warnings[s]...) {
		if w.Level == "hopeless" {
			a.Kind, a.Text = "hopeless", "This profile has no answer: "+w.Text+"."
			if p.index.Live {
				a.Text = "No answer yet: " + w.Text + "."
			}
			return a
		}
	}
	tried, few, estimated := map[analyze.Verdict]int{}, 0, 0
	var best *analyze.Effect
	for at, i := range p.targets[s] {
		e := v.effect(p, s, i, v.metrics()[0])
		if e == nil {
			continue
		}
		switch {
		case e.OnlyEstimated():
			estimated++
		case e.Basis() == analyze.Nothing && e.Refused != "" && p.results[s].Targets[i].Tried == 0:
			continue
		default:
			tried[e.Verdict]++
			if e.TooFew() {
				few++
			}
		}
		if better(e, best) {
			best, a.Unit = e, at
		}
	}
	if best == nil {
		a.Kind, a.Text = nothingToGain(tried[analyze.None], tried[analyze.Unsure], few, estimated,
			p.results[s].Estimates != nil)
		return a
	}
	a.Kind = string(best.Verdict)
	a.Gains = v.gains(best)
	a.Estimated = best.OnlyEstimated()
	switch {
	case best.Verdict != analyze.Slower:
	case a.Estimated:
		a.Text = "Nothing would help, as far as the recording tells. This would make it worse:"
	case v.latency():
		a.Text = "Nothing that was tried makes the latency fall. It rises when this is made faster."
	default:
		a.Text = "Nothing that was tried makes the program faster. This makes it slower when it is made faster: look at " +
			"what it contends for."
	}
	return a
}

// nothingToGain is the answer if no unit has an effect that is certain: of how many units it is certain that they have
// none, how many are unsure, how many of these were tried too seldom, how many are only estimated, and whether there is
// a recording.
func nothingToGain(none, unsure, few, estimated int, recorded bool) (kind, text string) {
	seldom := ""
	if few > 0 {
		seldom = fmt.Sprintf(", %d of them too seldom to tell", few)
	}
	switch {
	case none > 0 && unsure == 0:
		return "none", fmt.Sprintf("Nothing that was tried would help: %s, without effect.", were(none))
	case none > 0:
		return "unsure", fmt.Sprintf("Not enough data to say what would help: %s, %d of them without effect%s. A longer run "+
			"tells more.", were(none+unsure), none, seldom)
	case unsure > 0:
		return "unsure", fmt.Sprintf("Not enough data to say what would help: %s%s. A longer run tells more.", were(unsure),
			seldom)
	case estimated > 0:
		return "unsure", fmt.Sprintf("The recording names nothing that would help for sure (%d estimates). Experiments tell "+
			"more: whatif run.", estimated)
	case recorded:
		return "unsure", "No unit was tried, and the recording gives no estimate. Experiments tell: whatif run."
	}
	return "unsure", "No unit was tried yet."
}

// better says whether an effect is a better answer than the best so far: units that help come before those that harm.
func better(e, best *analyze.Effect) bool {
	slope := func(e *analyze.Effect) analyze.Estimate {
		if g, ok := e.EstimateAt(100); ok && e.OnlyEstimated() {
			g.Low, g.High = g.Low/100, g.High/100 // at 100%, as a slope
			return g
		}
		return e.Slope
	}
	switch e.Verdict {
	case analyze.Faster:
		return best == nil || best.Verdict != analyze.Faster || slope(e).Low > slope(best).Low
	case analyze.Slower:
		return best == nil || best.Verdict == analyze.Slower && slope(e).High < slope(best).High
	}
	return false
}

func were(n int) string {
	if n == 1 {
		return "1 unit was tried"
	}
	return fmt.Sprintf("%d units were tried", n)
}

// gains are those at 25, 50 and 100%.
func (v *view) gains(e *analyze.Effect) [][2]string {
	out := [][2]string{}
	for _, c := range throughputColumns {
		if g, known, estimated := report.GainAt(e, c.speedup); known {
			text := v.effectText(g)
			if g.Bounded && report.IsBound(e, estimated) {
				text = fmt.Sprintf("at most %.0f%% less time", g.High)
			}
			out = append(out, [2]string{fmt.Sprintf("%d%% faster", c.speedup), text})
		}
	}
	return out
}

// effectText describes how much less time a visit, or a request, takes. The sign is that of the
// table and the curve beside it: a reduction is positive, also of a latency.
func (v *view) effectText(g analyze.Estimate) string {
	text := fmt.Sprintf("%.0f%%", g.Value)
	if text == "-0%" {
		text = "0%"
	}
	if g.Bounded {
		text += fmt.Sprintf(" ± %.0f", max(1, g.Half()))
	}
	if v.latency() {
		return text + " less latency"
	}
	return text + " less time"
}
