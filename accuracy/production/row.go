package main

import (
	"fmt"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/spread"
)

// pair is what the clients said, with whatif attached and without.
type pair struct {
	with, without rig.Said
	attached      time.Duration // from the start of whatif to its end
	own           time.Duration // processor time that whatif used itself
}

// row is all pairs at one rate.
type row struct {
	rate  int
	pairs []pair
}

// quantile is a latency that the clients print, and how many times as long it may be with whatif, as the median of the
// pairs.
type quantile struct {
	name string
	most float64
}

// quantiles are judged. The median request is allowed what recording is promised to cost at most inside of a window,
// 5%; one in a hundred twice as much, as whatif's own work at its start and end hits some requests only.
var quantiles = []quantile{{"p50", 1.05}, {"p99", 1.10}}

// lines describes a row, with a verdict for each quantile. missed has those that are missed.
func (r *row) lines() (lines, missed []string) {
	load := "as many requests as are answered"
	if r.rate > 0 {
		load = fmt.Sprintf("%d requests a second", r.rate)
	}
	of := func(value func(*pair) float64) spread.Summary {
		var all []float64
		for i := range r.pairs {
			all = append(all, value(&r.pairs[i]))
		}
		return spread.Of(all)
	}
	lines = append(lines, fmt.Sprintf("%s, %d pairs: %.0f a second answered without whatif, %.0f with; whatif ran for "+
		"%.1f s each time, and used %.1f%% of a core", load, len(r.pairs),
		of(func(p *pair) float64 { return p.without.Rate() }).Median,
		of(func(p *pair) float64 { return p.with.Rate() }).Median,
		of(func(p *pair) float64 { return p.attached.Seconds() }).Median,
		of(func(p *pair) float64 { return 100 * p.own.Seconds() / p.attached.Seconds() }).Median))
	for _, q := range quantiles {
		ratio := of(func(p *pair) float64 { return p.with[q.name] / p.without[q.name] })
		word := "held"
		if ratio.Median > q.most {
			word = fmt.Sprintf("missed by %.3f", ratio.Median-q.most)
		}
		line := fmt.Sprintf("  %s: %.1f us without, %.1f us with; ratio %.3f (%.3f to %.3f), at most %g wanted: %s", q.name,
			1e6*of(func(p *pair) float64 { return p.without[q.name] }).Median,
			1e6*of(func(p *pair) float64 { return p.with[q.name] }).Median, ratio.Median, ratio.Low, ratio.High, q.most, word)
		lines = append(lines, line)
		if ratio.Median > q.most {
			missed = append(missed, load+":"+line[1:])
		}
	}
	return lines, missed
}
