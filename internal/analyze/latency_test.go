package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/hostile"
)

// A queue is a simulated server with one thread. Requests come at random, and each has its own
// service time.
type queue struct {
	rnd   *rand.Rand
	gap   float64 // between requests, on average, ns
	share float64 // part of the service that belongs to the unit
	speed func(now float64) float64

	now, free, next float64 // the time, and when the server is free and the next request comes
	done            []request
}

type request struct{ came, went float64 }

// run lets time pass, with the unit sped up by s.
func (q *queue) run(length, s float64) {
	for q.next < q.now+length {
		came := q.next
		q.next += q.gap * q.rnd.ExpFloat64()
		service := 0.6e6
		if q.rnd.IntN(2) == 0 {
			service = 1.4e6 * (0.5 + q.rnd.Float64())
		}
		if q.speed != nil {
			service *= q.speed(came)
		}
		q.free = max(q.free, came) + service*(1-q.share*s)
		q.done = append(q.done, request{came, q.free})
	}
	q.now += length
}

// durations is what an experiment from start to now records.
func (q *queue) durations(start float64) (d profile.Durations, v profile.Visits) {
	from, bins := start+0.15*(q.now-start), map[int64]int64{}
	v.WindowNS = q.now - from
	d.InSystem = int64(len(slices.DeleteFunc(slices.Clone(q.done),
		func(r request) bool { return r.came > start || r.went <= start })))
	for _, r := range q.done {
		if r.came >= from && r.came < q.now {
			d.Begun++
			v.Count++
			v.Weight++
		}
		d.AreaNS += max(0, min(r.went, q.now)-max(r.came, from))
		if r.went >= from && r.went < q.now {
			d.Ended++
			d.Matched++
			d.TotalNS += int64(r.went - r.came)
			bins[int64(binOf(r.went-r.came))]++
		}
	}
	for bin := range int64(profile.MaxBins) {
		if bins[bin] > 0 {
			d.Bins = append(d.Bins, [2]int64{bin, bins[bin]})
		}
	}
	// Requests that are done matter no more.
	q.done = slices.DeleteFunc(q.done, func(r request) bool { return r.went < q.now })
	return d, v
}

func binOf(ns float64) int {
	return sort.Search(profile.MaxBins, func(bin int) bool { return profile.BinStart(bin+1) > ns })
}

// profile simulates a run of pairs of experiments.
func (q *queue) profile(pairs int, levels []int) *profile.Data {
	d := &profile.Data{
		Units: map[uint32]profile.Unit{1: {ID: 1, Kind: "line", Name: "a.c:1", File: "a.c", Line: 1}},
		Run: profile.Run{Version: 1, CPUs: 2, PeriodNS: period, Targets: []string{"a.c:1"},
			Points:    []profile.Point{{Name: "r/begin"}, {Name: "r"}},
			Latencies: []profile.Latency{{Name: "r", Begin: 0, End: 1}}},
	}
	for pair := range pairs {
		order := []profile.Experiment{{}, {Unit: 1, Speedup: levels[pair%len(levels)]}}
		if q.rnd.IntN(2) == 0 {
			slices.Reverse(order)
		}
		for _, e := range order {
			s := float64(e.Speedup) / 100
			const real = 200e6
			delay := real * 0.6 * q.share * s / (1 + 0.6*q.share*s)
			start := q.now
			q.run(real-delay, s)
			l, v := q.durations(start)
			e.Index, e.Pair, e.RealNS, e.DelayNS, e.Samples = len(d.Experiments), pair+1, real, int64(delay), 200
			e.Points = []profile.Visits{v, v}
			e.Latencies = []profile.Durations{l}
			e.UnitSamples = map[uint32]int64{1: 100}
			d.Experiments = append(d.Experiments, e)
		}
	}
	return d
}

// truth is the result of a long simulation of each speed: by metric, the fall in percent.
func (q queue) truth(levels []int) map[Metric]map[int]float64 {
	metrics := func(s float64) map[Metric]float64 {
		q := q
		q.rnd, q.speed = rand.New(rand.NewPCG(99, 1)), nil
		length := 1000e9
		if testing.Short() {
			length = 300e9
		}
		q.run(length, s)
		var all []float64
		sum := 0.0
		for _, r := range q.done {
			all = append(all, r.went-r.came)
			sum += r.went - r.came
		}
		slices.Sort(all)
		m := map[Metric]float64{MeanLatency: sum / float64(len(all))}
		for _, p := range Quantiles {
			m[p.Metric] = quantile(all, p.Quantile)
		}
		return m
	}
	base, truth := metrics(0), map[Metric]map[int]float64{}
	for m := range base {
		truth[m] = map[int]float64{}
	}
	for _, level := range levels {
		for m, x := range metrics(float64(level) / 100) {
			truth[m][level] = 100 * (1 - x/base[m])
		}
	}
	return truth
}

// TestLatencyCoverage: for requests that queue, so that a long one delays all behind it, intervals
// hold the truth as often as they should, and estimates are unbiased.
func TestLatencyCoverage(t *testing.T) {
	sims, least := 40, 90.0
	if !testing.Short() {
		sims, least = 300, 92 // known to ±2 percentage points
	}
	sims = orAsked(sims)
	levels := []int{25, 50, 75, 100}
	var table strings.Builder
	for _, c := range []struct {
		name  string
		queue queue
	}{
		{"60% busy, the unit is 70%", queue{gap: 1.67e6, share: 0.7}},
		{"30% busy, the unit is half", queue{gap: 3.33e6, share: 0.5}},
		{"60% busy, no effect", queue{gap: 1.67e6}},
		{"30% busy, speed drifts by a third",
			queue{gap: 3.33e6, share: 0.5, speed: func(now float64) float64 { return 1 + 0.15*math.Sin(now/5e9) }}},
	} {
		truth := c.queue.truth(levels)
		raw, gain := map[Metric]*tally{}, map[Metric]*tally{}
		for i := range sims {
			q := c.queue
			q.rnd = rand.New(rand.NewPCG(uint64(i), 3))
			q.run(100e6, 0)
			res := Analyze([]*profile.Data{q.profile(80, levels)}, Options{Simulated: true})
			for k := range res.Targets[0].Effects {
				e := &res.Targets[0].Effects[k]
				if e.Metric == Throughput {
					continue
				}
				if raw[e.Metric] == nil {
					raw[e.Metric], gain[e.Metric] = &tally{}, &tally{}
				}
				for _, l := range e.Curve[1:] {
					raw[e.Metric].add(l.Raw, truth[e.Metric][l.Speedup])
					gain[e.Metric].add(l.Gain, truth[e.Metric][l.Speedup])
				}
			}
		}
		for _, m := range []Metric{MeanLatency, P50, P95, P99} {
			if x := raw[m].coverage(); x < 90 {
				t.Errorf("%s, %s: the intervals of single levels hold the truth in %.1f%%", c.name, m, x)
			}
			if x := gain[m].coverage(); x < least {
				t.Errorf("%s, %s: the curve's intervals hold the truth in %.1f%%, want %.0f or more", c.name, m, x, least)
			}
			for y, most := range map[*tally]float64{raw[m]: 1, gain[m]: 2.5} {
				if bias, se := y.bias(); math.Abs(bias) > most+4*se {
					t.Errorf("%s, %s: biased by %.2f points", c.name, m, bias)
				}
			}
			fmt.Fprintf(&table, "%-36s %-8s truth %4.0f  one level %v   curve %v\n", c.name, m, truth[m][50], raw[m], gain[m])
		}
	}
	t.Logf("%d simulations of each; coverage, mean error, root mean square error and half width in points\n%s",
		sims, table.String())
}

// simulated is a run of a queue, with records that the test can change.
func simulated(t *testing.T, gap float64, spoil func(i int, e *profile.Experiment)) *Result {
	t.Helper()
	q := queue{gap: gap, share: 0.6, rnd: rand.New(rand.NewPCG(5, 5))}
	q.run(100e6, 0)
	d := q.profile(60, []int{50})
	for i := range d.Experiments {
		if spoil != nil {
			spoil(i, &d.Experiments[i])
		}
	}
	return Analyze([]*profile.Data{d}, Options{Simulated: true})
}

func metrics(r *Result) (all []Metric) {
	for _, e := range r.Targets[0].Effects {
		all = append(all, e.Metric)
	}
	return all
}

func TestLatencyFacts(t *testing.T) {
	r := simulated(t, 2.5e6, nil)
	if len(r.Latencies) != 1 || len(r.Latencies[0].Warnings) != 0 {
		t.Fatalf("%+v", r.Latencies)
	}
	l := r.Latencies[0]
	if l.Name != "r" || r.Points[l.End].Name != "r" || r.Points[l.Begin].Name != "r/begin" || l.Matched == 0 ||
		l.Unmatched != 0 {
		t.Errorf("%+v", l)
	}
	// Service is 1 ms on average, and the rest is waiting.
	if l.Mean < 1e6 || l.Mean > 2e6 || math.Abs(l.InSystem-l.Mean/2.5e6) > 0.1 {
		t.Errorf("mean %v, %v in the system", Duration(l.Mean), l.InSystem)
	}
	if q := l.Quantiles; len(q) != 3 || !(0.6e6 < q[0] && q[0] < q[1] && q[1] < q[2] && q[2] < 10e6) {
		t.Errorf("quantiles %v", q)
	}
	want := []Metric{Throughput, Throughput, MeanLatency, P50, P95, P99}
	if got := metrics(r); !slices.Equal(got, want) {
		t.Errorf("metrics %v, want %v", got, want)
	}
	for _, e := range r.Targets[0].Effects[2:] {
		if e.Verdict != Faster || e.Point != l.End {
			t.Errorf("%s: %s at point %d", e.Metric, e.Verdict, e.Point)
		}
	}
}

func TestLatencyDoubts(t *testing.T) {
	const calm = 2.5e6
	grown := int64(0)
	for _, c := range []struct {
		code    string
		metrics int
		gap     float64
		spoil   func(i int, e *profile.Experiment)
	}{
		{"unstable", 6, calm, func(i int, e *profile.Experiment) { grown += 20; e.Latencies[0].InSystem += grown }},
		{"handed-over", 3, calm, func(i int, e *profile.Experiment) {
			l := &e.Latencies[0]
			l.Unmatched, l.Matched, l.Bins, l.TotalNS = l.Matched, 0, nil, 0
		}},
		{"unmatched", 6, calm, func(i int, e *profile.Experiment) { e.Latencies[0].Unmatched = 5 }},
		{"again", 6, calm, func(i int, e *profile.Experiment) { e.Latencies[0].Again = 5 }},
		{"long", 6, calm, func(i int, e *profile.Experiment) { e.Latencies[0].Carried = 5 }},
		{"disagree", 6, calm, func(i int, e *profile.Experiment) { e.Latencies[0].AreaNS *= 2 }},
		{"counted", 6, calm, func(i int, e *profile.Experiment) { e.Latencies[0].Late = e.Latencies[0].Matched }},
		{"no-latency", 2, calm, func(i int, e *profile.Experiment) { e.Latencies[0] = profile.Durations{} }},
	} {
		r := simulated(t, c.gap, c.spoil)
		w := r.Latencies[0].Warnings
		if len(w) != 1 || w[0].Code != c.code {
			t.Errorf("%s: %v", c.code, w)
		}
		if got := metrics(r); len(got) != c.metrics {
			t.Errorf("%s: %v", c.code, got)
		}
		if !slices.ContainsFunc(r.Warnings, func(x Warning) bool { return x.Code == c.code }) {
			t.Errorf("%s: not among the run's warnings", c.code)
		}
	}
}

// TestCountedLatency: if visits are only counted, there is a mean without a warning.
func TestCountedLatency(t *testing.T) {
	r := simulated(t, 2.5e6, func(i int, e *profile.Experiment) {
		l := &e.Latencies[0]
		l.Late, l.Matched, l.Bins, l.TotalNS = l.Matched, 0, nil, 0
	})
	if l := r.Latencies[0]; !l.Counted || l.Mean == 0 || len(l.Quantiles) > 0 || len(l.Warnings) > 0 {
		t.Errorf("%+v", l)
	}
	if got := metrics(r); len(got) != 3 {
		t.Error(got)
	}
}

// TestLatencyLeftOut: only the experiments with many carried requests are not used.
func TestLatencyLeftOut(t *testing.T) {
	clean := simulated(t, 2.5e6, nil)
	r := simulated(t, 2.5e6, func(i int, e *profile.Experiment) {
		if i%40 != 7 {
			return
		}
		l := &e.Latencies[0]
		l.Carried = l.Matched / 2
		l.AreaNS *= 50
		l.Bins = [][2]int64{{500, l.Matched}}
	})
	l := r.Latencies[0]
	if l.LeftOut != 3 || len(l.Warnings) != 0 || math.Abs(l.Mean/clean.Latencies[0].Mean-1) > 0.05 ||
		l.Quantiles[2] > 2*clean.Latencies[0].Quantiles[2] {
		t.Errorf("%+v, without them %+v", l, clean.Latencies[0])
	}
}

// TestLatencyUnderLoad: if a unit's speed-up brings more requests, the latency is that under more
// load, and a warning says so.
func TestLatencyUnderLoad(t *testing.T) {
	r := simulated(t, 2.5e6, func(i int, e *profile.Experiment) {
		if e.Unit != 0 {
			e.Points[0].Weight *= 1.6
			e.Points[0].Count += e.Points[0].Count / 2
		}
	})
	for _, e := range r.Targets[0].Effects {
		warned := slices.ContainsFunc(e.Warnings, func(w Warning) bool { return w.Code == "load" })
		if warned != (e.Metric != Throughput) {
			t.Errorf("%s of point %d: %v", e.Metric, e.Point, e.Warnings)
		}
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for bin := range int64(16) {
		h.add([][2]int64{{bin, 10}}) // 0 to 16 ns, evenly
	}
	for _, p := range []float64{0.1, 0.5, 0.95, 0.99} {
		if got := h.quantile(p); math.Abs(got-16*p) > 1e-9 {
			t.Errorf("quantile %v: %v", p, got)
		}
		if got := h.below(h.quantile(p)); math.Abs(got-p) > 1e-9 {
			t.Errorf("below the quantile %v: %v", p, got)
		}
		if got := h.density(p); math.Abs(got-1./16) > 1e-9 {
			t.Errorf("density at %v: %v", p, got)
		}
	}
	var one histogram
	one.add([][2]int64{{100, 1}})
	if q, f := one.quantile(0.99), one.density(0.99); q < profile.BinStart(100) || q > profile.BinStart(101) ||
		math.IsInf(f, 0) || math.IsNaN(f) {
		t.Errorf("of one: %v, density %v", q, f)
	}
}

// TestHistogramsAreSmall: each short line of a profile may ask for its own histogram.
func TestHistogramsAreSmall(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		all := make([]histogram, 200_000)
		for i := range all {
			all[i].add([][2]int64{{int64(i % profile.MaxBins), 1}, {profile.MaxBins - 1, 2}})
		}
		if h := all[3]; h.n != 3 || h.quantile(0.1) > profile.BinStart(4) || h.below(profile.BinStart(5)) != 1.0/3 {
			t.Errorf("%+v", h)
		}
	})
}
