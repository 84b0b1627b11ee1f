package report

import (
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// curveCells is the number of characters of a small curve: the gains at as many equal steps up to a
// speed-up of 100%.
const curveCells = 8

var (
	curveBlocks = []rune("▁▂▃▄▅▆▇█")
	curveASCII  = []rune("_.:-=+*#")
)

// smallCurve is the gains at the steps; NaN where the curve is not known.
func smallCurve(e *analyze.Effect) []float64 {
	levels := slices.Concat(e.Telling(), e.Marks)
	if len(e.Telling()) == 0 {
		levels = append([]analyze.Level{{Gain: analyze.Estimate{Known: true}}}, e.Estimated...)
	}
	levels = slices.DeleteFunc(levels, func(l analyze.Level) bool { return !l.Gain.Known || !finite(l.Gain.Value) })
	slices.SortStableFunc(levels, func(a, b analyze.Level) int { return a.Speedup - b.Speedup })
	gains := make([]float64, curveCells)
	for i := range gains {
		gains[i] = math.NaN()
		at := 100 * float64(i+1) / curveCells
		for j := 1; j < len(levels); j++ {
			a, b := levels[j-1], levels[j]
			if lo, hi := float64(a.Speedup), float64(b.Speedup); lo < hi && lo <= at && at <= hi {
				gains[i] = a.Gain.Value + (at-lo)/(hi-lo)*(b.Gain.Value-a.Gain.Value)
				break
			}
		}
	}
	return gains
}

// drawCurves draws the rows' curves, all on one scale that includes 0.
func drawCurves(rows []row, ascii bool) []string {
	low, high := 0.0, 0.0
	for _, rw := range rows {
		for _, g := range rw.curve {
			if !math.IsNaN(g) {
				low, high = min(low, g), max(high, g)
			}
		}
	}
	glyphs := curveBlocks
	if ascii {
		glyphs = curveASCII
	}
	drawn := make([]string, len(rows))
	for i, rw := range rows {
		var b strings.Builder
		for _, g := range rw.curve {
			switch {
			case math.IsNaN(g):
				b.WriteByte(' ')
			case high-low < 1: // less than a point is not worth a curve
				b.WriteRune(glyphs[0])
			default:
				b.WriteRune(glyphs[int(math.Round((g-low)/(high-low)*float64(len(glyphs)-1)))])
			}
		}
		drawn[i] = b.String() + strings.Repeat(" ", curveCells-len(rw.curve))
	}
	return drawn
}
