package chart

import (
	"fmt"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// Moment is a duration at a time, both in ns.
type Moment struct{ At, Value float64 }

// Timeline draws a value over time, for any number of moments.
type Timeline struct {
	moments []Moment // ascending by time
	x, y    axis
	h       float64
}

const timelineLeft, timelineRight, timelineTop, timelineBottom, timelineFoot = 48, 8, 8, 20, 9

// NewTimeline prepares a drawing of size w by h, over the time from 0 to end.
func NewTimeline(moments []Moment, end, w, h float64) *Timeline {
	t := &Timeline{h: h}
	var values []Weighted
	for _, m := range moments {
		if m.Value > 0 && finite(m.Value) {
			t.moments = append(t.moments, m)
			values = append(values, Weighted{m.Value, 1})
		}
	}
	spread := NewSpread(values)
	lo, hi := spread.quantile(0.01), spread.quantile(0.99)
	margin := max(0.15*(hi-lo), 0.05*hi)
	t.x = axis{0, max(end, 1), timelineLeft, w - timelineRight}
	t.y = axis{max(0, lo-margin), hi + margin, h - timelineBottom - timelineFoot, timelineTop}
	return t
}

// SVG is the drawing, with an empty path of class own for Ticks; "" without a moment.
func (t *Timeline) SVG(title string) string {
	if len(t.moments) == 0 {
		return ""
	}
	var d drawing
	d.open("chart timeline", t.x.to+timelineRight, t.h, fmt.Sprintf("%s: between %s and %s",
		title, analyze.Duration(t.y.lo), analyze.Duration(t.y.hi)))
	var grid strings.Builder
	for _, v := range t.y.ticks(3) {
		grid.WriteString("M" + num(t.x.from) + " " + num(t.y.at(v)) + "H" + num(t.x.to))
		d.text(t.x.from-5, t.y.at(v)+4, "", "end", analyze.Duration(v))
	}
	for _, v := range (axis{lo: 0, hi: t.x.hi / 1e9}).ticks(6) {
		d.text(t.x.at(v*1e9), t.h-5, "", "middle", tick(v)+" s")
	}
	d.path("grid", grid.String())
	spread, line := t.paths()
	d.path("spread", spread)
	d.path("dots", line)
	d.path("axis", "M"+num(t.x.from)+" "+num(t.y.from)+"H"+num(t.x.to))
	d.WriteString(`<path class="own"/></svg>`)
	return d.String()
}

// paths are dots if there is room for each; otherwise, for every two pixels, the range of the
// values there and their median.
func (t *Timeline) paths() (spread, line string) {
	const wide = 2
	var s, l strings.Builder
	if float64(len(t.moments)) < (t.x.to-t.x.from)/wide {
		for _, m := range t.moments {
			l.WriteString("M" + num(t.x.at(m.At)) + " " + num(t.y.at(t.y.inside(m.Value))) + "h0")
		}
		return "", l.String()
	}
	columns := map[int][]float64{}
	for _, m := range t.moments {
		c := int((t.x.at(m.At) - t.x.from) / wide)
		columns[c] = append(columns[c], t.y.inside(m.Value))
	}
	for c := range int((t.x.to-t.x.from)/wide) + 1 {
		if v := columns[c]; len(v) > 0 {
			slices.Sort(v)
			at := num(t.x.from + wide*float64(c))
			s.WriteString("M" + at + " " + num(t.y.at(v[0])) + "V" + num(t.y.at(v[len(v)-1])))
			l.WriteString("M" + at + " " + num(t.y.at(v[len(v)/2])) + "h0")
		}
	}
	return s.String(), l.String()
}

// Ticks is the path that marks some times at the bottom of the drawing.
func (t *Timeline) Ticks(times []float64) string {
	var b strings.Builder
	for _, at := range times {
		b.WriteString("M" + num(t.x.at(at)) + " " + num(t.y.from+2) + "v6")
	}
	return b.String()
}
