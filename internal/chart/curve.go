package chart

import (
	"html"
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// Curve draws the gains of a unit over its speed-up: the curve with the band of its intervals, the
// estimates of each speed-up alone (thin bars), and, if the effect has its trials, each experiment
// (dots). The effects in beside are only for the scale, so that curves can be compared.
func Curve(e *analyze.Effect, w, h float64, title string, beside ...*analyze.Effect) string {
	var d drawing
	d.open("chart "+string(e.Verdict), w, h, Words(e, title))
	const left, right, top, bottom = 40, 20, 10, 34
	x := axis{0, 100, left, w - right}
	y := reach(append(slices.Clone(beside), e)...)
	y.from, y.to = h-bottom, top
	d.frame(x, y, w, h)
	// A drawing within the drawing clips what lies outside.
	d.add(`<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">`,
		num(x.from-6), num(y.to), num(x.to-x.from+12), num(y.from-y.to), num(x.from-6), num(y.to),
		num(x.to-x.from+12), num(y.from-y.to))
	band, line := paths(e.Curve, x, y)
	d.path("band", band)
	d.path("dots", dots(e.Trials, x, y))
	d.path("raw", raws(e.Curve, x, y))
	d.path("curve", line)
	for _, l := range e.Curve {
		if l.Speedup > 0 && shown(l.Gain) {
			d.add(`<circle class="mark" cx="%s" cy="%s" r="3.2"><title>%s</title></circle>`,
				num(x.at(float64(l.Speedup))), num(y.at(l.Gain.Value)), html.EscapeString(levelWords(l)))
		}
	}
	d.WriteString("</svg>")
	if line == "" {
		d.text((x.from+x.to)/2, (y.from+y.to)/2, "", "middle", "no estimate")
	}
	d.WriteString("</svg>")
	return d.String()
}

// frame draws grid and axes.
func (d *drawing) frame(x, y axis, w, h float64) {
	var grid strings.Builder
	for _, v := range y.ticks(5) {
		grid.WriteString("M" + num(x.from) + " " + num(y.at(v)) + "H" + num(x.to))
		d.text(x.from-6, y.at(v)+4, "", "end", tick(v)+"%")
	}
	for v := 0.0; v <= 100; v += 25 {
		grid.WriteString("M" + num(x.at(v)) + " " + num(y.from) + "V" + num(y.to))
		d.text(x.at(v), y.from+14, "", "middle", tick(v)+"%")
	}
	d.path("grid", grid.String())
	d.path("axis", "M"+num(x.from)+" "+num(y.at(0))+"H"+num(x.to))
	d.text((x.from+x.to)/2, h-5, "", "middle", "this code faster by")
}

func tick(v float64) string {
	if v == math.Trunc(v) {
		return num(v)
	}
	return figure(v)
}

// reach is the range of gains that a curve needs: with its intervals, unless they are very wide.
func reach(effects ...*analyze.Effect) axis {
	const most, least = 100, 10 // percent at which an interval is cut; the smallest range
	lo, hi := 0.0, 0.0
	for _, e := range effects {
		for _, l := range e.Curve {
			if !shown(l.Gain) {
				continue
			}
			lo, hi = min(lo, max(l.Gain.Value, -1000)), max(hi, l.Gain.Value)
			if l.Gain.Bounded {
				lo, hi = min(lo, max(l.Gain.Low, -most)), max(hi, min(l.Gain.High, most))
			}
		}
		lo, hi = min(lo, trialsAt(e.Trials, 0.1)), max(hi, trialsAt(e.Trials, 0.9))
	}
	margin := 0.06 * max(least, hi-lo)
	if lo < 0 {
		lo -= margin
	}
	hi += margin
	if hi-lo < least {
		hi = max(hi, least/2)
		lo = min(lo, hi-least)
	}
	return axis{lo: lo, hi: hi}
}

// trialsAt is a quantile of the trials' gains, within the range that is worth drawing.
func trialsAt(trials []analyze.Trial, p float64) float64 {
	var gains []float64
	for _, one := range trials {
		if one.Known && finite(one.Gain) {
			gains = append(gains, min(max(one.Gain, -100), 100))
		}
	}
	if len(gains) == 0 {
		return 0
	}
	slices.Sort(gains)
	return gains[int(p*float64(len(gains)-1))]
}

func shown(g analyze.Estimate) bool { return g.Known && finite(g.Value) }

// paths are the band of a curve's intervals, and the curve.
func paths(levels []analyze.Level, x, y axis) (band, line string) {
	var there, back []string
	var b strings.Builder
	for _, l := range levels {
		if !shown(l.Gain) {
			continue
		}
		at := num(x.at(float64(l.Speedup))) + " "
		if b.Len() == 0 {
			b.WriteString("M")
		} else {
			b.WriteString("L")
		}
		b.WriteString(at + num(y.at(l.Gain.Value)))
		if l.Gain.Bounded && finite(l.Gain.Low) && finite(l.Gain.High) {
			there = append(there, at+num(y.at(l.Gain.High)))
			back = append(back, at+num(y.at(l.Gain.Low)))
		}
	}
	if len(there) > 1 {
		slices.Reverse(back)
		band = "M" + strings.Join(there, "L") + "L" + strings.Join(back, "L") + "Z"
	}
	if len(levels) < 2 || !strings.Contains(b.String(), "L") {
		return band, ""
	}
	return band, b.String()
}

// raws are the estimates of each level alone.
func raws(levels []analyze.Level, x, y axis) string {
	var b strings.Builder
	for _, l := range levels {
		if l.Speedup > 0 && shown(l.Raw) && l.Raw.Bounded {
			at := num(x.at(float64(l.Speedup)))
			b.WriteString("M" + at + " " + num(y.at(y.inside(l.Raw.Low))) + "V" + num(y.at(y.inside(l.Raw.High))))
		}
	}
	return b.String()
}

// dots are the experiments. Those of one speed-up are drawn a little apart, and those outside of
// the drawing on its edge.
func dots(trials []analyze.Trial, x, y axis) string {
	const most = 1500 // more dots cannot be distinguished
	every := 1 + (len(trials)-1)/most
	var b strings.Builder
	for i, one := range trials {
		if i%every != 0 || !one.Known || !finite(one.Gain) {
			continue
		}
		aside := float64(i%5-2) * 1.3
		b.WriteString("M" + num(x.at(float64(one.Speedup))+aside) + " " + num(y.at(y.inside(one.Gain))) + "h0")
	}
	return b.String()
}

// Words describes a curve in words.
func Words(e *analyze.Effect, title string) string {
	var parts []string
	for _, l := range e.Marks {
		if shown(l.Gain) {
			parts = append(parts, levelWords(l))
		}
	}
	if len(parts) == 0 {
		return title + ": no estimate"
	}
	return title + ": " + strings.Join(parts, "; ")
}

func levelWords(l analyze.Level) string {
	s := num(float64(l.Speedup)) + "% faster: " + figure(l.Gain.Value) + "%"
	if l.Gain.Bounded {
		s += " (" + figure(l.Gain.Low) + " to " + figure(l.Gain.High) + ")"
	}
	return s
}
