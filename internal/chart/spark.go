package chart

import (
	"math"

	"whatif/internal/analyze"
)

// SparkWidth and SparkHeight are the size of a curve in a row of a table.
const SparkWidth, SparkHeight = 100, 28

// Sparks draws small curves at one scale, so that rows can be compared.
type Sparks struct{ x, y axis }

// NewSparks finds the scale for all effects. Only the values count, because one row with a very
// wide interval must not make all others flat.
func NewSparks(effects []*analyze.Effect) *Sparks {
	lo, hi := 0.0, 5.0
	for _, e := range effects {
		for _, l := range drawnLevels(e) {
			if shown(l.Gain) {
				lo, hi = min(lo, max(l.Gain.Value, -50)), max(hi, l.Gain.Value)
			}
		}
	}
	return &Sparks{axis{0, 100, 1, SparkWidth - 1}, axis{lo, hi, SparkHeight - 2, 2}}
}

// Zero is the position of a gain of 0 in the box.
func (s *Sparks) Zero() float64 { return math.Round(s.y.at(0)) }

// Paths are the band and the curve of an effect. The edge of the box has to clip them.
func (s *Sparks) Paths(e *analyze.Effect) (band, line string) {
	levels := drawnLevels(e)
	cut := make([]analyze.Level, 0, len(levels))
	for _, l := range levels {
		g := &l.Gain
		g.Value, g.Low, g.High = s.y.inside(g.Value), s.y.inside(g.Low), s.y.inside(g.High)
		cut = append(cut, l)
	}
	return paths(cut, s.x, s.y)
}
