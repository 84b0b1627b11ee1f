package analyze

import (
	"cmp"
	"math"
	"slices"

	"whatif/internal/profile"
)

// The mean latency comes from Little's law, L = λW: the mean number of requests in the system is
// their arrival rate times the time that each spends in it. So the mean latency is the time that
// all requests in a window spent in the system (the integral of their number) over the number that
// arrived. This is a time over visits, a period, and all methods for periods in this package apply
// to it. The law only requires that the system is stable: in the long run, as many requests end as
// begin (stable). A window's edges cut requests in two; over many windows this evens out.
//
// Quantiles become periods too, by their influence function (Bahadur's representation: Serfling,
// Approximation Theorems of Mathematical Statistics, 2.5). Let q be the quantile of all durations
// of a level together, F the distribution of one experiment, and f the density of all durations at
// q. The experiment's part is
//
//	q·(1 + u), u = (p - F(q)) / (f·q)
//
// for each of its requests. By q's definition, the mean over the level's requests is exactly q. u
// goes down to -(1-p)/(f·q), which is below -1 if the tail is long. So where u is negative, exp(u)
// stands for 1 + u, which keeps all times positive, and all are scaled to have the mean q again.
// The scatter between experiments is the scatter of the quantile. If the requests of an experiment
// depend on each other (they queue for the same server), they scatter as one thing, not as many.
//
// In the baselines q is the quantile of all of them. An experiment is compared with their local
// mean, so a drift of the machine's speed is followed as far as it is linear. The density is a
// difference quotient (density). The method assumes that an experiment's number of requests says
// little about their durations beyond what the level says.
//
// A request that begins in one experiment and ends in the next has seen two speeds. If many of an
// experiment's requests have, for instance after a disturbance that left a long queue, the
// experiment is not used, whatever its speed-up. If that happens often, requests take as long as
// experiments. Then all experiments are used, and a warning says so.
//
// Nothing is clipped as an outlier, because the tail is what users ask for. Phases are not
// corrected for, because a quantile has no parts that add up.

// latencyEffects adds the effects on latencies to the targets, and returns the latencies.
func (in *input) latencyEffects(opt Options) []Latency {
	all := in.mergeLatencies()
	for i := range all {
		l := &all[i]
		in.excludeCarried(l)
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
		in.latencyWarnings(l)
	}
	return all
}

func (in *input) latencyEffect(l *Latency, m Metric, see view, opt Options) {
	t, fits := in.fit(see, see, make([]phasing, len(in.targets)), false)
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

// durations gives the durations of l that experiment e of run r recorded, and the window's length
// in virtual time; nil if there are none, or if the experiment is not used for l.
func (in *input) durations(l *Latency, r int, e *profile.Experiment) (*profile.Durations, float64) {
	d, begin := in.recorded(l, r, e)
	if d == nil || !measured(e, begin) || !l.useCarried && hasManyCarried(d) {
		return nil, 0
	}
	return d, e.Points[begin].WindowNS
}

// recorded gives the durations of l that experiment e of run r recorded, used or not, and the index
// of the run's point at which l begins.
func (in *input) recorded(l *Latency, r int, e *profile.Experiment) (d *profile.Durations, begin int) {
	for i, of := range in.runs[r].Run.Latencies {
		if of.Name == l.Name && i < len(e.Latencies) {
			return &e.Latencies[i], of.Begin
		}
	}
	return nil, -1
}

// hasManyCarried says whether many of an experiment's requests began before it.
func hasManyCarried(d *profile.Durations) bool {
	const many = 0.1
	return float64(d.Carried) > many*float64(d.Matched)
}

// excludeCarried counts the experiments with many carried requests. They are not used, unless they
// are more than a few.
func (in *input) excludeCarried(l *Latency) {
	const few = 0.05
	l.useCarried = true // so that durations gives all
	all := 0
	for r, run := range in.runs {
		for i := range run.Experiments {
			if d, _ := in.durations(l, r, &run.Experiments[i]); d != nil && usable(&run.Experiments[i]) {
				all++
				if hasManyCarried(d) {
					l.LeftOut++
				}
			}
		}
	}
	if l.useCarried = float64(l.LeftOut) > few*float64(all); l.useCarried {
		l.LeftOut = 0
	}
}

// eachBaseline calls f with the durations of l in each baseline that recorded some.
func (in *input) eachBaseline(l *Latency, f func(d *profile.Durations, window float64)) {
	for r, run := range in.runs {
		for _, i := range in.bases[r] {
			if d, window := in.durations(l, r, &run.Experiments[i]); d != nil {
				f(d, window)
			}
		}
	}
}

// little is the view with the requests for visits, and the time that they spent in the system for
// time. The time is scaled so that its mean is the mean length of the windows.
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
	levels := in.quantileLevels(l, p)
	var windows, requests float64
	in.eachBaseline(l, func(d *profile.Durations, window float64) {
		windows += window
		requests += float64(d.Matched)
	})
	base := levels[baselineKey]
	if base == nil || base.q == 0 || requests == 0 {
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
		if lv := levels[in.levelKey(r, e)]; lv != nil && lv.all.n > 0 && h.n > 0 {
			o.time = h.n * lv.q * lv.influence(p, &h) / lv.mean * scale
		}
		return o, true
	}, base.q
}

// A levelKey names the experiments with one speed-up of one target, over all runs.
type levelKey struct{ target, speedup int }

var baselineKey = levelKey{-1, 0}

func (in *input) levelKey(r int, e *profile.Experiment) levelKey {
	if e.IsBaseline() {
		return baselineKey
	}
	return levelKey{in.unitOf[r][e.Unit], e.Speedup}
}

// A quantileLevel is the durations of all experiments with one key together.
type quantileLevel struct {
	all        histogram
	q, density float64 // the quantile of all, and their density there
	mean       float64 // of the influence, over all requests
}

// influence is 1 + u, or exp(u) if u is negative, of an experiment with the durations h.
func (lv *quantileLevel) influence(p float64, h *histogram) float64 {
	u := (p - h.below(lv.q)) / (lv.density * lv.q)
	if u < 0 {
		return math.Exp(u)
	}
	return 1 + u
}

// quantileLevels computes the levels of the p-quantile of l.
func (in *input) quantileLevels(l *Latency, p float64) map[levelKey]*quantileLevel {
	levels := map[levelKey]*quantileLevel{}
	each := func(f func(lv *quantileLevel, d *profile.Durations)) {
		for r, run := range in.runs {
			for i := range run.Experiments {
				e := &run.Experiments[i]
				d, _ := in.durations(l, r, e)
				if d == nil || !usable(e) {
					continue
				}
				k := in.levelKey(r, e)
				if levels[k] == nil {
					levels[k] = &quantileLevel{}
				}
				f(levels[k], d)
			}
		}
	}
	each(func(lv *quantileLevel, d *profile.Durations) { lv.all.add(d.Bins) })
	for _, lv := range levels {
		if lv.all.n > 0 {
			lv.q, lv.density = max(lv.all.quantile(p), 1), lv.all.density(p)
		}
	}
	each(func(lv *quantileLevel, d *profile.Durations) {
		var h histogram
		if h.add(d.Bins); d.Matched > 0 && h.n > 0 {
			lv.mean += h.n / lv.all.n * lv.influence(p, &h)
		}
	})
	return levels
}

// A histogram is counts of durations, in the bins that have some. It is sparse because there may be
// one for each line of a profile.
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
		byBin := func(c counted, bin int) int { return cmp.Compare(c.bin, bin) }
		i, found := slices.BinarySearchFunc(h.bins, int(b[0]), byBin)
		if found {
			h.bins[i].n += n
		} else {
			h.bins = slices.Insert(h.bins, i, counted{int(b[0]), n})
		}
		h.n += n
	}
}

// quantile is the duration below which a share p of all durations lies. Within a bin they are taken
// to be spread evenly.
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

// density is the density of the durations at their p-quantile: a difference quotient over a part of
// the tail beyond it, with some requests on either side.
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

// latencyKnown says which figures of a latency can be computed.
type latencyKnown struct{ mean, distribution bool }

// latencyFacts sets the figures of a latency in the baselines.
func (in *input) latencyFacts(l *Latency) (known latencyKnown) {
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
