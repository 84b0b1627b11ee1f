// Package chart draws the results of package analyze as SVG: the curve of a unit's gains with its
// interval, the distribution of its periods, and the baselines over time. The page, the HTML file
// and the .svg files show the same drawings.
//
// The normal sequence is to collect the data (NewSpread, NewSparks, NewTimeline) where a drawing
// needs more than one effect, and to draw (Curve, Histogram, Sparks.Paths, Timeline.SVG); or to
// fill in a Sheet and Write it, for a file of its own.
//
// A drawing has no colours of its own, only classes; Style has the colours, for light and dark. It
// has no identifiers, so any number of drawings can be in one page. All text in it is escaped. This
// package computes no statistics.
package chart

import (
	_ "embed"
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Style is the CSS of all drawings.
//
//go:embed style.css
var Style string

// drawing collects SVG.
type drawing struct{ strings.Builder }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// text writes a label; anchor is start, middle or end.
func (d *drawing) text(x, y float64, class, anchor, s string) {
	d.add(`<text x="%s" y="%s" class="%s" text-anchor="%s">%s</text>`, num(x), num(y), class, anchor, html.EscapeString(s))
}

func (d *drawing) path(class, data string) {
	if data != "" {
		d.add(`<path class="%s" d="%s"/>`, class, data)
	}
}

// open begins a drawing. alt is its text for screen readers.
func (d *drawing) open(class string, w, h float64, alt string) {
	d.openWith(class, w, h, "img", alt, "")
}

// openWith is open for a drawing with another role, or with more attributes.
func (d *drawing) openWith(class string, w, h float64, role, alt, attributes string) {
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %s %s" role="%s" aria-label="%s"%s>`,
		class, num(w), num(h), role, html.EscapeString(alt), attributes)
}

// An axis is a range of values and the positions of its ends in the drawing.
type axis struct {
	lo, hi   float64
	from, to float64
}

func (a axis) at(v float64) float64 {
	if a.hi <= a.lo {
		return (a.from + a.to) / 2
	}
	return a.from + (v-a.lo)/(a.hi-a.lo)*(a.to-a.from)
}

// inside keeps a value within the axis.
func (a axis) inside(v float64) float64 { return min(max(v, a.lo), a.hi) }

// ticks are about n round values within the axis.
func (a axis) ticks(n int) []float64 {
	span := a.hi - a.lo
	if !(span > 0) || math.IsInf(span, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if span/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	var all []float64
	for v := math.Ceil(a.lo/step) * step; v <= a.hi+step/1e6; v += step {
		all = append(all, math.Round(v/step)*step+0)
	}
	return all
}

// num writes a coordinate. A tenth of a pixel is enough.
func num(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
}

// figure writes a percentage.
func figure(x float64) string {
	if math.Abs(x) >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	s := strconv.FormatFloat(x, 'f', 1, 64)
	if s == "-0.0" {
		s = "0.0"
	}
	return s
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
