package chart

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"

	"whatif/internal/analyze"
)

// Weighted is a duration in ns, and how often it was seen.
type Weighted struct{ Value, Weight float64 }

// Spread is durations in ascending order. Only positive and finite ones are kept.
type Spread struct {
	values []float64 // ascending
	sums   []float64 // sums of the weights before each, and of all
}

// NewSpread sorts durations.
func NewSpread(all []Weighted) *Spread {
	var good []Weighted
	for _, v := range all {
		if v.Value > 0 && finite(v.Value) && v.Weight > 0 {
			good = append(good, v)
		}
	}
	slices.SortFunc(good, func(a, b Weighted) int { return cmp.Compare(a.Value, b.Value) })
	s := &Spread{sums: []float64{0}}
	for i, v := range good {
		s.values = append(s.values, v.Value)
		s.sums = append(s.sums, s.sums[i]+v.Weight)
	}
	return s
}

func (s *Spread) total() float64 { return s.sums[len(s.values)] }

// quantile is 0 if there are no durations.
func (s *Spread) quantile(p float64) float64 {
	if len(s.values) == 0 {
		return 0
	}
	i := sort.SearchFloat64s(s.sums, p*s.total())
	return s.values[min(max(i-1, 0), len(s.values)-1)]
}

// below is the weight of the durations below x.
func (s *Spread) below(x float64) float64 { return s.sums[sort.SearchFloat64s(s.values, x)] }

// Histogram draws the distribution of durations in the baselines (bars) and in the experiments of a
// unit (a line), each in shares of its own total; "" if there is nothing to draw.
func Histogram(base, own *Spread, w, h float64, title string) string {
	lo, hi := bounds(base, own)
	if hi <= 0 {
		return ""
	}
	const left, right, top, bottom = 8, 8, 8, 20
	var d drawing
	d.open("chart histogram", w, h, title+": "+median("baselines", base)+", "+median("experiments", own))
	// Durations that differ by large factors are drawn on a logarithmic scale.
	scale, unscale := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if hi > 8*lo {
		scale, unscale = math.Log, math.Exp
	}
	x := axis{scale(lo), scale(hi), left, w - right}
	const bins = 32
	baseShares, ownShares := base.shares(x, unscale, bins), own.shares(x, unscale, bins)
	y := axis{0, max(slices.Max(baseShares), slices.Max(ownShares), 1e-9), h - bottom, top}
	edge := func(i int) string { return num(x.from + float64(i)/bins*(x.to-x.from)) }
	var bars, step strings.Builder
	for i, share := range baseShares {
		if share > 0 {
			bars.WriteString("M" + edge(i) + " " + num(y.from) + "V" + num(y.at(share)) +
				"H" + edge(i+1) + "V" + num(y.from) + "Z")
		}
	}
	if own.total() > 0 {
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

// bounds are the durations between which nearly all others lie.
func bounds(of ...*Spread) (lo, hi float64) {
	lo = math.Inf(1)
	for _, s := range of {
		if s.total() > 0 {
			lo, hi = min(lo, s.quantile(0.005)), max(hi, s.quantile(0.995))
		}
	}
	if hi <= lo { // all the same
		lo, hi = hi*0.9, hi*1.1
	}
	return lo, hi
}

func median(what string, of *Spread) string {
	if m := of.quantile(0.5); m > 0 {
		return "median of " + what + " " + analyze.Duration(m)
	}
	return "no " + what
}

// shares counts into bins. The outermost bins include what is beyond the axis.
func (s *Spread) shares(x axis, unscale func(float64) float64, bins int) []float64 {
	shares := make([]float64, bins)
	before := 0.0
	for i := range shares {
		upTo := s.total()
		if i < bins-1 {
			upTo = s.below(unscale(x.lo + float64(i+1)/float64(bins)*(x.hi-x.lo)))
		}
		shares[i] = (upTo - before) / max(s.total(), 1e-300)
		before = upTo
	}
	return shares
}
