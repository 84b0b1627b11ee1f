package noise

import (
	"fmt"
	"math"
)

// Prediction is one prediction of the accuracy gate, and the truth that was measured for it, in
// percentage points.
type Prediction struct {
	Program          string
	Level            int
	Predicted, Truth float64
	// PredictedHalf and TruthHalf are half widths of 95% intervals: of the prediction, by its
	// experiments alone and without the method error, and of the truth.
	PredictedHalf, TruthHalf float64
	// PlaceboHalf is the half width of the interval of the program's placebos; 0 if there were
	// none.
	PlaceboHalf float64
	Seen        Seen // noise during the program's runs
}

// The limits of predictions, in percentage points. Over the suite the mean error is below 2, and
// below 1 for the programs of the gate. Noise may widen each limit to twice, which is still less
// than 6: no noise excuses an error of 6 points in all predictions.
const (
	mostOff      = 2.9 // error of one prediction
	mostMean     = 1.6 // mean error: the part that all predictions have in common
	mostAbsolute = 2.3 // mean absolute error
	// Half widths on a quiet machine. A limit is 1.8 half widths: one of two thousand right
	// predictions is beyond it.
	usualHalf = mostOff / 1.8
	usualMean = mostMean / 1.8
	// judgedLeast is the part of the predictions that must have been judged.
	judgedLeast = 2.0 / 3
)

// half is half the width of the interval of the difference between prediction and truth. Placebos
// scatter as the experiments do. If they scatter more, they show noise that the experiments' own
// interval does not have.
func (p *Prediction) half() float64 {
	return math.Hypot(max(p.PredictedHalf, p.PlaceboHalf), p.TruthHalf)
}

// judge judges one prediction by itself.
func (p *Prediction) judge() (Verdict, string) {
	name := fmt.Sprintf("%s at %d%%: %.1f for %.1f: the difference", p.Program, p.Level, p.Predicted, p.Truth)
	f := Around(name, p.Predicted-p.Truth, 0, mostOff)
	f.Half, f.Usual = p.half(), usualHalf
	return Judge(f, p.Seen)
}

// Each is the worst verdict on the single predictions.
func Each(predictions []Prediction) (worst Verdict) {
	for i := range predictions {
		v, _ := predictions[i].judge()
		worst = max(worst, v)
	}
	return worst
}

// Pool combines two measurements of the same predictions: their means are known better by a factor
// of 1.4. A measurement on a machine that was too noisy is left out.
func Pool(one, other []Prediction) []Prediction {
	pooled := make([]Prediction, len(one))
	for i, a := range one {
		b := other[i]
		switch {
		case a.Seen.Widen() > Most:
			pooled[i] = b
		case b.Seen.Widen() > Most:
			pooled[i] = a
		default:
			pooled[i] = Prediction{
				Program: a.Program, Level: a.Level,
				Predicted: (a.Predicted + b.Predicted) / 2, Truth: (a.Truth + b.Truth) / 2,
				PredictedHalf: math.Hypot(a.PredictedHalf, b.PredictedHalf) / 2,
				TruthHalf:     math.Hypot(a.TruthHalf, b.TruthHalf) / 2,
				PlaceboHalf:   math.Hypot(a.PlaceboHalf, b.PlaceboHalf) / 2,
				Seen:          a.Seen.Or(b.Seen),
			}
		}
	}
	return pooled
}

// Together judges all predictions: each by itself, as far as noise allows, and their mean, which is
// known better than each. It returns a line for each prediction, and one for the verdict.
func Together(predictions []Prediction) (Verdict, []string) {
	if len(predictions) == 0 {
		return Wrong, []string{"wrong: there are no predictions"}
	}
	var lines []string
	judged, wrong := 0, false
	var quiet []Prediction
	for _, p := range predictions {
		v, words := p.judge()
		lines = append(lines, v.String()+": "+words)
		if v != NotJudged {
			judged++
		}
		wrong = wrong || v == Wrong
		if p.Seen.Widen() <= Most {
			quiet = append(quiet, p)
		}
	}
	// A mean averages scatter out, but not the effect of other programs, which may push all
	// predictions the same way. So those from a quiet machine decide, if they are enough or wrong.
	all := meanOf(predictions)
	m := all
	if len(quiet) > 0 {
		of := meanOf(quiet)
		if v, _ := of.judge(); v == Wrong || float64(len(quiet)) >= judgedLeast*float64(len(predictions)) {
			m = of
		}
	}
	v, words := m.judge()
	if words != "" {
		lines = append(lines, words)
	}
	switch {
	case wrong:
		v = Wrong
	case v == Right && float64(judged) < judgedLeast*float64(len(predictions)):
		v = NotJudged
	}
	last := fmt.Sprintf("%v (mean difference %+.1f ± %.1f points, mean error %.1f, %d of %d predictions judged",
		v, m.difference, m.half, m.absolute, judged, len(predictions))
	if v == NotJudged {
		last += fmt.Sprintf("; at the worst %v", all.seen)
	}
	return v, append(lines, last+")")
}

// mean is what some predictions have in common.
type mean struct {
	difference, absolute, half float64
	seen                       Seen // at the worst
}

func meanOf(predictions []Prediction) (m mean) {
	var differences, errors []float64
	halves := map[string]float64{}
	for _, p := range predictions {
		off := p.Predicted - p.Truth
		differences, errors = append(differences, off), append(errors, math.Abs(off))
		m.seen = m.seen.Or(p.Seen)
		// Levels of one program share their baselines, so they count as one, with the interval of
		// the worst.
		halves[p.Program] = max(halves[p.Program], p.half())
	}
	squares := 0.0
	for _, half := range halves {
		squares += half * half
	}
	m.half = math.Sqrt(squares) / float64(len(halves))
	m.difference, _ = Mean(differences)
	m.absolute, _ = Mean(errors)
	return m
}

func (m *mean) judge() (Verdict, string) {
	return All([]Figure{
		{Name: "the mean difference", Value: m.difference, Low: -mostMean, High: mostMean, Half: m.half, Usual: usualMean},
		{Name: "the mean error", Value: m.absolute, Low: -mostAbsolute, High: mostAbsolute, Half: m.half, Usual: usualMean},
	}, m.seen)
}
