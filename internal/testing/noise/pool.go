package noise

import (
	"fmt"
	"math"
	"slices"
)

// Measured is the result of one measurement: its figures, and the noise meanwhile.
type Measured struct {
	Figures []Figure
	Seen    Seen
}

// Pooled combines several measurements of the same figures. Each figure is the mean of its values,
// known better by the square root of their number, and its limits are the means of theirs. A
// measurement on a machine that was too noisy is left out if there is another. The noise is that
// of the quietest one: noise in a later measurement must not excuse what was wrong in a quiet one.
func Pooled(all []Measured) Measured {
	var kept []Measured
	for _, m := range all {
		if m.Seen.Widen() <= Most {
			kept = append(kept, m)
		}
	}
	if kept == nil {
		kept = all
	}
	n := float64(len(kept))
	pooled := Measured{Figures: append([]Figure(nil), kept[0].Figures...), Seen: kept[0].Seen}
	for i := range pooled.Figures {
		f, squares := &pooled.Figures[i], 0.0
		f.Value, f.Low, f.High = 0, 0, 0
		for _, m := range kept {
			one := m.Figures[i]
			f.Value += one.Value / n
			f.Low += one.Low / n // the limits of a truth move if it is measured each time
			f.High += one.High / n
			squares += one.Half * one.Half
		}
		f.Half = math.Sqrt(squares) / n
	}
	for _, m := range kept[1:] {
		if m.Seen.Widen() < pooled.Seen.Widen() {
			pooled.Seen = m.Seen
		}
	}
	return pooled
}

// SameFigures tells whether two measurements are of the same figures, so that they can be pooled.
func SameFigures(a, b Measured) bool {
	return slices.EqualFunc(a.Figures, b.Figures, func(f, g Figure) bool { return f.Name == g.Name })
}

// tries is how often figures are measured, at most, before they are called wrong or not judged.
const tries = 3

// Decide judges the mean of all measurements so far. again asks for one more: a figure is beyond
// its limits or cannot be judged, and there were fewer than three measurements.
func Decide(all []Measured) (pooled Measured, v Verdict, words string, again bool) {
	pooled = Pooled(all)
	v, words = All(pooled.Figures, pooled.Seen)
	// A figure without a value spoils the mean, and measuring again would not change that.
	undefined := slices.ContainsFunc(pooled.Figures, func(f Figure) bool { return math.IsNaN(f.Value) })
	return pooled, v, fmt.Sprintf("mean of %d: %s; %v", len(all), words, pooled.Seen),
		v != Right && !undefined && len(all) < tries
}

// DecideEach judges the last measurement by itself. again asks for one more: it cannot be judged, and there were fewer
// than three measurements.
func DecideEach(all []Measured) (last Measured, v Verdict, words string, again bool) {
	last, v, words, _ = Decide(all[len(all)-1:])
	return last, v, words, v == NotJudged && len(all) < tries
}
