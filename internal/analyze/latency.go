package analyze

import (
	"cmp"
	"math"
	"slices"

	"whatif/internal/profile"
)

// The mean latency comes from Little's law: L = λW, the number of requests in the
// system on average is the rate at which they come times the time that each is in it. So
// the time that all requests in a window spent in the system, the integral of their
// number, over the number that came is the mean latency: again a time over visits, a
// period, and all that is said of periods in this package goes for it. The law
// asks only that the system is stable: that as many end as begin, in the long run
// (stable). A window's edges cut requests in two, which the sum over windows evens
// out.
//
// Quantiles become periods too, by their influence function (Bahadur's representation:
// Serfling, Approximation Theorems of Mathematical Statistics, 2.5). With q the
// quantile of all durations of a level together, F an experiment's own distribution
// and f the density of all at q, the experiment's part is
//
//	q·(1 + u), u = (p - F(q)) / (f·q)
//
// for each of its requests. The mean of that over the level's requests is exactly q,
// by q's definition. Where u is below 0 (u goes down to -(1-p)/(f·q), which is below -1
// if the tail is long) exp(u) stands for 1 + u, so that no time is negative, and all are scaled
// to have the mean q again; the scatter of it between experiments is the scatter of the
// quantile, and an experiment whose requests depend on each other (they queue for the
// same server) is one thing that scatters, not many. In the baselines q is that of all of them,
// and it is their local mean that an experiment is compared with, so a drift of the
// machine's speed is followed as far as it is linear. The density is a difference
// quotient (density). Assumed is that an experiment's number of requests tells
// little of their durations beyond what the level tells.
//
// What begins in one experiment and ends in the next has seen two speeds. Where many
// of an experiment's requests have, after a disturbance that left a long queue to the next
// experiment for instance, that one is left out, whatever its speed-up. If that
// happens often, requests take as long as experiments: then all are used, and it is
// said.
//
// Nothing is drawn in as an outlier: the tail is what is asked for. Phases are not
// corrected for, as a quantile has no parts that add up.

// latencyEffects adds the effects on latencies, and says what is known of each.
func (in *input) latencyEffects(opt Options) []Latency {
	all := in.mergeLatencies()
	for i := range all {
		l := &all[i]
		in.leaveOut(l)
		known := in.latencyFacts(l)
		if known.mean {
			in.latencyEffect(l, MeanLatency, in.little(l), opt)
		}
		if known.distribution {
			for _, q := range Quantiles {
				see, value := in.quantile(l, q.Quantile)
				l.Quantiles = append(l.Quantiles, value)
				in.latencyEffect(l, q.Metric, see, opt)
			}
		}
		in.latencyDoubts(l)
	}
	return all
}

func (in *input) latencyEffect(l *Latency, m Metric, see view, opt Options) {
	t, fits := in.fit(see, make([]phasing, len(in.targets)), false)
	for _, f := range fits {
		f.bowed = true
	}
	in.conclude(t, fits, opt, func(u int) *Effect {
		tg := &in.targets[u]
		tg.Effects = append(tg.Effects, Effect{Point: l.End, Metric: m})
		return &tg.Effects[len(tg.Effects)-1]
	})
}

// mergeLatencies finds the latencies of all runs, by name.
func (in *input) mergeLatencies() []Latency {
	var all []Latency
	index := map[string]bool{}
	for r, d := range in.runs {
		for _, l := range d.Run.Latencies {
			begin, end := in.pointOf[r][l.Begin], in.pointOf[r][l.End]
			if index[l.Name] || begin < 0 || end < 0 {
				continue
			}
			index[l.Name] = true
			all = append(all, Latency{Name: l.Name, Begin: begin, End: end, Found: l.Found})
		}
	}
	return all
}

// durations gives what experiment e of run r recorded of l, and the window's length
// in virtual time; nil if nothing.
func (in *input) durations(l *Latency, r int, e *profile.Experiment) (*profile.Durations, float64) {
	d, begin := in.recorded(l, r, e)
	if d == nil || !measured(e, begin) || !l.common && mixed(d) {
		return nil, 0
	}
	return d, e.Points[begin].WindowNS
}

// recorded is what experiment e of run r recorded of l, whether it is used or not, and where the run has the point at
// which it begins.
func (in *input) recorded(l *Latency, r int, e *profile.Experiment) (d *profile.Durations, begin int) {
	for i, of := range in.runs[r].Run.Latencies {
		if of.Name == l.Name && i < len(e.Latencies) {
			return &e.Latencies[i], of.Begin
		}
	}
	return nil, -1
}

// mixed says whether many of an experiment's requests began before it.
func mixed(d *profile.Durations) bool {
	const many = 0.1
	return float64(d.Carried) > many*float64(d.Matched)
}

// leaveOut counts the experiments that are not used, if they are few.
func (in *input) leaveOut(l *Latency) {
	const few = 0.05
	l.common = true // to see all
	all := 0
	for r, run := range in.runs {
		for i := range run.Experiments {
			if d, _ := in.durations(l, r, &run.Experiments[i]); d != nil && usable(&run.Experiments[i]) {
				all++
				if mixed(d) {
					l.LeftOut++
				}
			}
		}
	}
	if l.common = float64(l.LeftOut) > few*float64(all); l.common {
		l.LeftOut = 0
	}
}

// eachBaseline goes through the baselines that recorded something of l.
func (in *input) eachBaseline(l *Latency, f func(d *profile.Durations, window float64)) {
	for r, run := range in.runs {
		for _, i := range in.bases[r] {
			if d, window := in.durations(l, r, &run.Experiments[i]); d != nil {
				f(d, window)
			}
		}
	}
}

// little is the view in which visits are requests and time is what they spent in the
// system, scaled so that it is in the mean as long as the windows.
func (in *input) little(l *Latency) view {
	var area, windows float64
	in.eachBaseline(l, func(d *profile.Durations, window float64) {
		area += max(0, d.AreaNS)
		windows += window
	})
	scale := windows / area
	return func(r int, e *profile.Experiment) (observation, bool) {
		d, window := in.durations(l, r, e)
		if d == nil || window == 0 {
			return observation{}, false
		}
		return observation{visits: d.Begun, time: max(0, d.AreaNS) * scale, size: window}, true
	}
}

// quantile is the view of the p-quantile, and its value in the baselines.
func (in *input) quantile(l *Latency, p float64) (view, float64) {
	type group struct {
		target, speedup int
	}
	groupOf := func(r int, e *profile.Experiment) group {
		if e.IsBaseline() {
			return group{-1, 0}
		}
		return group{in.unitOf[r][e.Unit], e.Speedup}
	}
	hists := map[group]*histogram{}
	var windows, requests float64
	for r, run := range in.runs {
		for i := range run.Experiments {
			e := &run.Experiments[i]
			d, window := in.durations(l, r, e)
			if d == nil || !usable(e) {
				continue
			}
			g := groupOf(r, e)
			if hists[g] == nil {
				hists[g] = &histogram{}
			}
			hists[g].add(d.Bins)
			if e.IsBaseline() {
				windows += window
				requests += float64(d.Matched)
			}
		}
	}
	type part struct{ q, density, mean float64 }
	parts := map[group]part{}
	for g, h := range hists {
		if h.n > 0 {
			q := max(h.quantile(p), 1)
			parts[g] = part{q: q, density: h.density(p)}
		}
	}
	influence := func(at part, h *histogram) float64 {
		u := (p - h.below(at.q)) / (at.density * at.q)
		if u < 0 {
			return math.Exp(u)
		}
		return 1 + u
	}
	for r, run := range in.runs {
		for i := range run.Experiments {
			e := &run.Experiments[i]
			if d, _ := in.durations(l, r, e); d != nil && usable(e) && d.Matched > 0 {
				var h histogram
				h.add(d.Bins)
				if g := groupOf(r, e); h.n > 0 {
					at := parts[g]
					at.mean += h.n / hists[g].n * influence(at, &h)
					parts[g] = at
				}
			}
		}
	}
	base := parts[group{-1, 0}]
	if base.q == 0 || requests == 0 {
		return func(int, *profile.Experiment) (observation, bool) { return observation{}, false }, 0
	}
	scale := windows / (requests * base.q)
	return func(r int, e *profile.Experiment) (observation, bool) {
		d, window := in.durations(l, r, e)
		if d == nil || window == 0 {
			return observation{}, false
		}
		var h histogram
		h.add(d.Bins)
		o := observation{visits: h.n, size: window}
		if at, ok := parts[groupOf(r, e)]; ok && h.n > 0 {
			o.time = h.n * at.q * influence(at, &h) / at.mean * scale
		}
		return o, true
	}, base.q
}

// A histogram is counts of durations, in the bins that have some: there may be one for each line of a profile.
type histogram struct {
	bins []counted // ascending
	n    float64
}

type counted struct {
	bin int
	n   float64
}

func (h *histogram) add(bins [][2]int64) {
	for _, b := range bins {
		n := float64(b[1])
		i, found := slices.BinarySearchFunc(h.bins, int(b[0]), func(c counted, bin int) int { return cmp.Compare(c.bin, bin) })
		if found {
			h.bins[i].n += n
		} else {
			h.bins = slices.Insert(h.bins, i, counted{int(b[0]), n})
		}
		h.n += n
	}
}

// quantile is the duration below which a share p of all lies. Within a bin they are
// taken to be spread evenly.
func (h *histogram) quantile(p float64) float64 {
	rest := p * h.n
	last := 0
	for _, c := range h.bins {
		bin, n := c.bin, c.n
		if last = bin; rest <= n {
			start := profile.BinStart(bin)
			return start + rest/n*(profile.BinStart(bin+1)-start)
		}
		rest -= n
	}
	return profile.BinStart(last + 1)
}

// below is the share of durations below x.
func (h *histogram) below(x float64) float64 {
	sum := 0.0
	for _, c := range h.bins {
		bin, n := c.bin, c.n
		start := profile.BinStart(bin)
		if start >= x {
			break
		}
		sum += n * min(1, (x-start)/(profile.BinStart(bin+1)-start))
	}
	return sum / h.n
}

// density is that of the durations at their p-quantile: a difference quotient over
// a part of the tail beyond it, with some requests on either side.
func (h *histogram) density(p float64) float64 {
	const (
		most   = 0.1 // on either side, at the median
		enough = 3   // requests
	)
	tail := 1 - p
	width := min(max(min(most, tail/2), enough/h.n), 0.9*tail)
	low, high := h.quantile(p-width), h.quantile(p+width)
	return 2 * width / max(high-low, 1e-3*max(high, 1))
}

// knownOf is what can be said of a latency.
type knownOf struct{ mean, distribution bool }

// latencyFacts sets what is known of a latency in the baselines.
func (in *input) latencyFacts(l *Latency) (known knownOf) {
	var area, windows, begun float64
	var late int64
	in.eachBaseline(l, func(d *profile.Durations, window float64) {
		area += max(0, d.AreaNS)
		windows += window
		begun += d.Begun
	})
	for r, run := range in.runs {
		for i := range run.Experiments {
			if d, _ := in.durations(l, r, &run.Experiments[i]); d != nil {
				l.Matched += d.Matched
				l.Unmatched += d.Unmatched
				late += d.Late
			}
		}
	}
	l.Counted = late > 0 && l.Matched+l.Unmatched == 0
	if area > 0 && begun > 0 && windows > 0 {
		l.Mean, l.InSystem = area/begun, area/windows
		known.mean = true
	}
	var matched int64
	in.eachBaseline(l, func(d *profile.Durations, _ float64) { matched += d.Matched })
	known.distribution = matched > 0 && float64(l.Matched) >= leastMatched*float64(l.Matched+l.Unmatched)
	return known
}
