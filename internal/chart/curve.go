package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// Plot is how a curve is drawn.
type Plot struct {
	Width, Height float64
	Title         string
	// Share is the unit's part of the time, in percent: a profiler lets one expect that the program gains as much if the
	// code takes no time at all. 0 draws no such line.
	Share float64
	// Beside are effects that are only for the scale, so that curves can be compared.
	Beside []*analyze.Effect
}

// Curve draws the gains of a unit over its speed-up: the curve with the band of its intervals, the gains of each
// speed-up alone (thin bars), and, if the effect has its trials, each experiment (dots). What a recording says is
// dashed; it has a band only where there are no experiments.
//
// The attribute data-frame is for scripts that find a gain at a place of the drawing: left and right end of the frame,
// bottom and top, and the gains there.
func Curve(e *analyze.Effect, p Plot) string {
	var d drawing
	const left, right, top, bottom = 40, 20, 10, 34
	x := axis{0, 100, left, p.Width - right}
	y := reach(append(slices.Clone(p.Beside), e)...)
	if p.Share > 0 && finite(p.Share) {
		y.hi = max(y.hi, min(p.Share, 100)*1.06)
	}
	y.from, y.to = p.Height-bottom, top
	d.openWith("chart "+string(e.Verdict), p.Width, p.Height, "img", Words(e, p.Title),
		fmt.Sprintf(` data-frame="%s %s %s %s %g %g"`, num(x.from), num(x.to), num(y.from), num(y.to), y.lo, y.hi))
	d.frame(x, y, p.Height)
	// A drawing within the drawing clips what lies outside.
	d.add(`<svg x="%s" y="%s" width="%s" height="%s" viewBox="%s %s %s %s">`,
		num(x.from-6), num(y.to), num(x.to-x.from+12), num(y.from-y.to), num(x.from-6), num(y.to),
		num(x.to-x.from+12), num(y.from-y.to))
	estimated := estimateLevels(e)
	band, line := paths(e.Telling(), x, y)
	widely, dashed := paths(estimated, x, y)
	if len(e.Telling()) == 0 {
		band = widely
	}
	d.path("band", band)
	if p.Share > 0 && finite(p.Share) && line+dashed != "" {
		d.expectedBeside(e, x, y, p.Share)
	}
	d.path("dots", dots(e.Trials, x, y))
	d.path("raw", raws(e.Telling(), x, y))
	d.path("curve estimate", dashed)
	d.path("curve", line)
	for _, l := range e.Telling() {
		d.mark("mark", l, x, y)
	}
	if len(e.Telling()) == 0 {
		for _, l := range estimated {
			if l.Speedup%25 == 0 {
				d.mark("mark open", l, x, y)
			}
		}
	}
	d.WriteString("</svg>")
	if line == "" && dashed == "" {
		d.text((x.from+x.to)/2, (y.from+y.to)/2, "", "middle", untold(e))
	}
	d.WriteString("</svg>")
	return d.String()
}

// untold is why there is no curve.
func untold(e *analyze.Effect) string {
	if e.TooFew() {
		return "too few experiments"
	}
	return "no estimate"
}

// estimateLevels is what a recording says of an effect; code that is not faster gains nothing.
func estimateLevels(e *analyze.Effect) []analyze.Level {
	if len(e.Estimated) == 0 {
		return nil
	}
	return append([]analyze.Level{{Gain: analyze.Estimate{Known: true}}}, e.Estimated...)
}

// drawnLevels are those of a small curve: of the experiments or, without any, of the recording.
func drawnLevels(e *analyze.Effect) []analyze.Level {
	if told := e.Telling(); len(told) > 0 {
		return told
	}
	return estimateLevels(e)
}

// expectedBeside draws the line of a share, with its name where it is farther from the curve: near the line's end, or
// in its first half, above or below.
func (d *drawing) expectedBeside(e *analyze.Effect, x, y axis, share float64) {
	// away is by how many pixels the curve is above the line at a speed-up.
	away := func(speedup float64) float64 {
		gain, nearest := 0.0, math.Inf(1)
		for _, l := range drawnLevels(e) {
			if at := math.Abs(float64(l.Speedup) - speedup); shown(l.Gain) && at < nearest {
				gain, nearest = l.Gain.Value, at
			}
		}
		return y.at(share*speedup/100) - y.at(gain)
	}
	const first, last, letter = 35, 80, 16 // middle of either place, in percent; height of the name, in pixels
	isFirst := math.Abs(away(first)) > math.Abs(away(last)) && y.at(0)-y.at(share*first/100) > 2*letter
	if isFirst {
		d.expected(x, y, 100, share, 55, away(first) < 0)
	} else {
		d.expected(x, y, 100, share, 98, away(last) < 0)
	}
}

func (d *drawing) mark(class string, l analyze.Level, x, y axis) {
	if l.Speedup > 0 && shown(l.Gain) {
		d.add(`<circle class="%s" cx="%s" cy="%s" r="3.2"><title>%s</title></circle>`, class,
			num(x.at(float64(l.Speedup))), num(y.at(l.Gain.Value)), html.EscapeString(levelWords(l)))
	}
}

// expected draws the line of gains that a profile lets one expect, from the origin to (toX, toY), and its name along
// it, above or below; the name ends where percent of the line are behind it.
func (d *drawing) expected(x, y axis, toX, toY, percent float64, above bool) {
	d.path("expected", "M"+num(x.at(0))+" "+num(y.at(0))+"L"+num(x.at(toX))+" "+num(y.at(toY)))
	steep := math.Atan2(y.at(0)-y.at(toY), x.at(toX)-x.at(0))
	away := 13.0
	if above {
		away = -5
	}
	atX := x.at(toX*percent/100) + away*math.Sin(steep)
	atY := y.at(toY*percent/100) + away*math.Cos(steep)
	d.add(`<text class="halo" x="%s" y="%s" text-anchor="end" transform="rotate(%[3]s %[1]s %[2]s)">%[4]s</text>`,
		num(atX), num(atY), num(-steep*180/math.Pi), expectation)
}

// expectation names the line of expected.
const expectation = "what a profiler would expect"

// frame draws grid and axes.
func (d *drawing) frame(x, y axis, h float64) {
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
		for _, l := range slices.Concat(e.Telling(), e.Estimated) {
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
		if shown(l.Gain) && !e.TooFew() {
			parts = append(parts, levelWords(l))
		}
	}
	if len(e.Telling()) == 0 {
		for _, l := range e.Estimated {
			if l.Speedup%25 == 0 && shown(l.Gain) {
				parts = append(parts, "estimated "+levelWords(l))
			}
		}
	}
	if len(parts) == 0 {
		return title + ": " + untold(e)
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
