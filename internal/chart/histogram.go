package chart

import (
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// A Weighted value is a duration in ns, and how many times it was seen.
type Weighted struct{ Value, Weight float64 }

// Histogram draws how durations are spread, in the baselines (bars) and in the experiments
// of a unit (a line), each as shares of its own. "" if there is nothing to draw.
func Histogram(base, own []Weighted, w, h float64, title string) string {
	lo, hi := bounds(slices.Concat(base, own))
	if hi <= 0 {
		return ""
	}
	const left, right, top, bottom = 8, 8, 8, 20
	var d drawing
	d.open("chart histogram", w, h, title+": "+median("baselines", base)+", "+median("experiments", own))
	// Durations that differ by factors are compared as such.
	scale, unscale := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if hi > 8*lo {
		scale, unscale = math.Log, math.Exp
	}
	x := axis{scale(lo), scale(hi), left, w - right}
	const bins = 32
	baseShares, ownShares := shares(base, x, scale, bins), shares(own, x, scale, bins)
	y := axis{0, max(slices.Max(baseShares), slices.Max(ownShares), 1e-9), h - bottom, top}
	edge := func(i int) string { return num(x.from + float64(i)/bins*(x.to-x.from)) }
	var bars, step strings.Builder
	for i, share := range baseShares {
		if share > 0 {
			bars.WriteString("M" + edge(i) + " " + num(y.from) + "V" + num(y.at(share)) + "H" + edge(i+1) + "V" + num(y.from) + "Z")
		}
	}
	if len(own) > 0 {
		step.WriteString("M" + num(x.from) + " " + num(y.from))
		for i, share := range ownShares {
			step.WriteString("V" + num(y.at(share)) + "H" + edge(i+1))
		}
		step.WriteString("V" + num(y.from))
	}
	d.path("bars", bars.String())
	d.path("step", step.String())
	d.path("axis", "M"+num(x.from)+" "+num(y.from)+"H"+num(x.to))
	for i, anchor := range []string{"start", "middle", "end"} {
		at := float64(i) / 2
		d.text(x.from+at*(x.to-x.from), h-6, "", anchor, analyze.Duration(unscale(x.lo+at*(x.hi-x.lo))))
	}
	d.WriteString("</svg>")
	return d.String()
}

// bounds are the durations between which nearly all lie.
func bounds(all []Weighted) (lo, hi float64) {
	lo, hi = quantile(all, 0.005), quantile(all, 0.995)
	if hi <= lo { // all the same
		lo, hi = lo*0.9, hi*1.1
	}
	return lo, hi
}

// quantile of what is positive and finite; 0 if nothing is.
func quantile(all []Weighted, p float64) float64 {
	var good []Weighted
	sum := 0.0
	for _, v := range all {
		if v.Value > 0 && finite(v.Value) && v.Weight > 0 {
			good = append(good, v)
			sum += v.Weight
		}
	}
	slices.SortFunc(good, func(a, b Weighted) int {
		if a.Value < b.Value {
			return -1
		} else if a.Value > b.Value {
			return 1
		}
		return 0
	})
	rest := p * sum
	for _, v := range good {
		if rest -= v.Weight; rest <= 0 {
			return v.Value
		}
	}
	if len(good) > 0 {
		return good[len(good)-1].Value
	}
	return 0
}

func median(what string, of []Weighted) string {
	if m := quantile(of, 0.5); m > 0 {
		return "median of " + what + " " + analyze.Duration(m)
	}
	return "no " + what
}

// shares counts into bins; what is beyond the axis is in the outermost.
func shares(all []Weighted, x axis, scale func(float64) float64, bins int) []float64 {
	count := make([]float64, bins)
	sum := 0.0
	for _, v := range all {
		if v.Value > 0 && finite(v.Value) {
			i := int((x.inside(scale(v.Value)) - x.lo) / (x.hi - x.lo) * float64(bins))
			count[min(max(i, 0), bins-1)] += v.Weight
			sum += v.Weight
		}
	}
	for i := range count {
		count[i] /= max(sum, 1e-300)
	}
	return count
}
