package estimate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"whatif/internal/analyze"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Limits of what is enough to say anything.
const (
	mostPieces     = 48   // into which a recording is cut; enough for the bootstrap, and each as long as possible
	beyond         = 10   // requests slower than a percentile that its estimate needs
	mostDeviation  = 0.15 // of the unchanged run from the recording, as a part, at a metric that is estimated
	tailDeviation  = 0.30 // the same for percentiles, which scatter more
	quantileLevels = 64   // points of the distribution around a percentile that the bootstrap draws from
)

// pointBase is what the simulated run without a change did at a point: all other runs are compared with it.
type pointBase struct {
	pieces  []int // by window: how many pieces it is cut into
	whole   bool  // a window counts from its begin to its end; else from its first visit to its last
	drawn   *draws
	metrics []metricBase
}

// metricBase is one metric of a point.
type metricBase struct {
	metric    analyze.Metric
	quantile  float64 // of a percentile
	base      sums
	drawn     []float64 // the metric of the base in each draw
	deviation float64   // of the unchanged run from the recording, as a part
	refused   string    // why there are no estimates
}

// sums is what a run did, piece by piece: a metric is the sum of amounts over the sum of counts, or a percentile.
type sums struct {
	amount, count []float64
	grid          []float64   // of a percentile: values around it, ascending
	below         [][]float64 // of a percentile: by piece and value of the grid, how many are at most that
}

// measured is a gain with the noise of its measurement, both as a part. slack is how far it may be off because it was
// interpolated.
type measured struct {
	gain, sd float64
	df       float64
	slack    float64
	between  float64 // the gain may be anything up to so far from it: a recording does not say more
}

// orUpTo is a gain that may be anything between two.
func (m measured) orUpTo(other measured) measured {
	low := min(m.gain-m.between, other.gain-other.between)
	high := max(m.gain+m.between, other.gain+other.between)
	m.gain, m.between = (low+high)/2, (high-low)/2
	m.sd = max(m.sd, other.sd)
	return m
}

// newBases prepares the points of a recording, from its run without a change, and from the run that also has what
// recording took of the time: this one must be what was recorded.
func newBases(r *recording.Recording, same, recorded simulate.Outcome) []pointBase {
	was := asRecorded(r)
	bases := make([]pointBase, len(r.Points))
	for k, p := range r.Points {
		b := &bases[k]
		n := b.cut(same, k)
		requests, cut := b.requests(same, k), cutOf(was, k)
		for _, m := range metricsOf(p) {
			mb := metricBase{metric: m}
			for _, q := range analyze.Quantiles {
				if q.Metric == m {
					mb.quantile = q.Quantile
				}
			}
			mb.base = b.sums(&mb, same, k, requests)
			mb.drawn = b.drawn.values(&mb.base, mb.quantile)
			mb.refused = cmp.Or(b.refuse(&mb, n), cut.refuse(&mb))
			if mb.refused == "" {
				mb.judge(b.sums(&mb, recorded, k, b.requests(recorded, k)), b.sums(&mb, was, k, b.requests(was, k)))
			}
			b.metrics = append(b.metrics, mb)
		}
	}
	return bases
}

// cut decides into which pieces the windows are cut. Every piece has at least two visits on average.
func (b *pointBase) cut(o simulate.Outcome, k int) (visits int) {
	for i := range o.Windows {
		visits += len(visitsOf(&o.Windows[i], k))
	}
	want := min(mostPieces, visits/2)
	b.whole = len(o.Windows) > 1 // windows were chosen at random, also if they have only few visits
	total := 0
	for i := range o.Windows {
		n := len(visitsOf(&o.Windows[i], k))
		pieces := 1
		if visits > 0 {
			pieces = max(1, want*n/visits)
		}
		b.pieces = append(b.pieces, pieces)
		total += pieces
	}
	b.drawn = newDraws(total)
	return visits
}

// refuse says why a metric cannot be estimated at all.
func (b *pointBase) refuse(m *metricBase, visits int) string {
	switch {
	case visits < simulate.LeastVisits: // an interval would be a guess
		return fmt.Sprintf("%s of the point in the recording, too few", countOf(visits, "visit"))
	case b.drawn.blocks() < 2:
		return "the recording is too short to tell how far it may be trusted"
	case m.metric == analyze.Throughput:
		return ""
	}
	if n := total(m.base.count); n < simulate.LeastVisits || m.quantile > 0 && n*(1-m.quantile) < beyond {
		return fmt.Sprintf("%s with a known latency in the recording, too few", countOf(int(n), "request"))
	}
	return ""
}

// cutRequests are those of a recording that begin in no window, or in another one than they end in.
type cutRequests struct {
	share    float64 // of all that end
	expected float64 // the share if requests are as long as those that are whole
	noise    float64 // twice the standard error of the share
	window   float64 // mean length, in ns
	windows  int
}

func cutOf(o simulate.Outcome, k int) cutRequests {
	c := cutRequests{windows: len(o.Windows)}
	var cut, whole, took float64
	for i := range o.Windows {
		c.window += float64(o.Windows[i].Length) / float64(len(o.Windows))
		for _, v := range visitsOf(&o.Windows[i], k) {
			if v.Latency < 0 {
				cut++
				continue
			}
			whole++
			took += float64(v.Latency)
		}
	}
	c.share = cut / max(cut+whole, 1)
	c.expected = took / max(whole, 1) / max(c.window, 1)
	if e := min(c.expected, 1); cut+whole > 0 {
		c.noise = 2 * math.Sqrt(e*(1-e)/(cut+whole))
	}
	return c
}

// The parts of a window that a percentile and the mean may take: longer requests are mostly cut.
const (
	mostOfWindow     = 1.0 / 3
	mostMeanOfWindow = 1.0 / 5
)

// refuse says why a latency would be that of the shorter requests. In a single window ends without a begin have other
// reasons.
func (c cutRequests) refuse(m *metricBase) string {
	if m.metric == analyze.Throughput {
		return ""
	}
	most := mostMeanOfWindow
	if m.quantile > 0 {
		most = mostOfWindow
	}
	missing := c.windows > 1 && m.quantile > 0 && c.share-c.expected-c.noise > (1-m.quantile)/2
	if missing || m.base.value(m.quantile, nil) > most*c.window {
		return fmt.Sprintf("the recording has stretches of %s, and longer requests are not whole in any: it would be the "+
			"%s of the shorter ones", analyze.Duration(c.window), m.metric.Measures())
	}
	return ""
}

// judge compares the run that should be as recorded with the recording.
func (m *metricBase) judge(is, was sums) {
	simulated, real := is.value(m.quantile, nil), was.value(m.quantile, nil)
	m.deviation = simulated/real - 1
	most := mostDeviation
	if m.quantile > 0 {
		most = tailDeviation
	}
	if !(math.Abs(m.deviation) <= most) {
		m.refused = fmt.Sprintf("simulated without a change, its %s is %.2g times the recorded one",
			m.metric.Measures(), simulated/real)
	}
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func total(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// visitsOf gives the visits of a point in a window.
func visitsOf(w *simulate.WindowOutcome, k int) []simulate.Visit {
	if k >= len(w.Visits) {
		return nil
	}
	return w.Visits[k]
}

// compare gives the gains of a run at each metric of a point.
func (b *pointBase) compare(o simulate.Outcome, k int) []measured {
	all := make([]measured, len(b.metrics))
	var requests *requests
	for i := range b.metrics {
		m := &b.metrics[i]
		if m.refused != "" {
			continue
		}
		if m.metric != analyze.Throughput && requests == nil {
			requests = b.requests(o, k)
		}
		now := b.sums(m, o, k, requests)
		all[i] = b.drawn.compare(m, &now)
	}
	return all
}

// requests are the known latencies of a run.
type requests struct {
	values []float64
	piece  []int     // of each value
	sorted []float64 // the values
	pieces int
}

// requests cuts the requests of a run into pieces, as sums does with visits.
func (b *pointBase) requests(o simulate.Outcome, k int) *requests {
	r := &requests{}
	for i, n := range b.pieces {
		if i >= len(o.Windows) {
			break
		}
		first := len(r.values)
		for _, v := range visitsOf(&o.Windows[i], k) {
			if v.Latency >= 0 {
				r.values = append(r.values, float64(v.Latency))
			}
		}
		for j := range len(r.values) - first {
			r.piece = append(r.piece, r.pieces+j*n/(len(r.values)-first))
		}
		r.pieces += n
	}
	r.sorted = slices.Clone(r.values)
	slices.Sort(r.sorted)
	return r
}

// sums cuts a run into pieces. Pieces are equal parts of a window's visits: so piece i of one run and piece i of
// another are about the same visits, also if they come sooner.
func (b *pointBase) sums(m *metricBase, o simulate.Outcome, k int, r *requests) (s sums) {
	if m.metric == analyze.Throughput {
		for i, n := range b.pieces {
			if i < len(o.Windows) {
				s.addTimes(visitsOf(&o.Windows[i], k), float64(o.Windows[i].Length), n, b.whole)
			}
		}
		return s
	}
	s.amount, s.count = make([]float64, r.pieces), make([]float64, r.pieces)
	for i, v := range r.values {
		s.amount[r.piece[i]] += v
		s.count[r.piece[i]]++
	}
	if m.quantile > 0 {
		s.distribute(r, m.quantile, b.drawn.blocks())
	}
	return s
}

// addTimes adds a window's time, in n pieces with equal numbers of visits.
func (s *sums) addTimes(visits []simulate.Visit, length float64, n int, whole bool) {
	if len(visits) == 0 {
		for range n {
			s.amount, s.count = append(s.amount, length/float64(n)), append(s.count, 0)
		}
		return
	}
	steps := float64(len(visits) - 1)
	at := func(rank float64) float64 { return timeAt(visits, rank) }
	if whole {
		steps = float64(len(visits))
		at = func(rank float64) float64 {
			switch {
			case rank >= steps:
				return length
			case rank <= 1:
				return rank * float64(visits[0].Time)
			}
			return timeAt(visits, rank-1)
		}
	}
	last := at(0)
	for j := 1; j <= n; j++ {
		now := at(steps * float64(j) / float64(n))
		s.amount, s.count = append(s.amount, now-last), append(s.count, steps/float64(n))
		last = now
	}
}

// timeAt is the time of a visit, or between two, by rank from 0.
func timeAt(visits []simulate.Visit, rank float64) float64 {
	i := min(int(rank), len(visits)-1)
	now := float64(visits[i].Time)
	if i+1 < len(visits) {
		now += (rank - float64(i)) * (float64(visits[i+1].Time) - now)
	}
	return now
}

// distribute prepares the distribution around a percentile: where it may be in any draw. At worst all requests of a
// block are alike.
func (s *sums) distribute(r *requests, q, blocks float64) {
	if len(r.sorted) == 0 {
		return
	}
	const far = 4 // standard deviations
	span := far * math.Sqrt(q*(1-q)/blocks)
	low, high := max(0, q-span), min(1, q+span)
	for j := range quantileLevels {
		x := low + (high-low)*float64(j)/(quantileLevels-1)
		v := r.sorted[min(len(r.sorted)-1, int(x*float64(len(r.sorted))))]
		if len(s.grid) == 0 || v > s.grid[len(s.grid)-1] {
			s.grid = append(s.grid, v)
		}
	}
	s.below = make([][]float64, len(s.amount))
	for p := range s.below {
		s.below[p] = make([]float64, len(s.grid))
	}
	for i, v := range r.values {
		if j := sort.SearchFloat64s(s.grid, v); j < len(s.grid) {
			s.below[r.piece[i]][j]++
		}
	}
	for _, row := range s.below {
		for j := 1; j < len(row); j++ {
			row[j] += row[j-1]
		}
	}
}

// value is the metric of a run, with pieces as often as weights says; nil: each once.
func (s *sums) value(q float64, weights []float64) float64 {
	weighted := func(x func(p int) float64) (sum float64) {
		for p := range s.amount {
			switch {
			case weights == nil:
				sum += x(p)
			case weights[p] > 0:
				sum += weights[p] * x(p)
			}
		}
		return sum
	}
	count := weighted(func(p int) float64 { return s.count[p] })
	if q == 0 {
		return weighted(func(p int) float64 { return s.amount[p] }) / count
	}
	if len(s.grid) == 0 {
		return math.NaN()
	}
	below := func(j int) float64 { return weighted(func(p int) float64 { return s.below[p][j] }) }
	j := sort.Search(len(s.grid)-1, func(j int) bool { return below(j) >= q*count })
	if j == 0 {
		return s.grid[0]
	}
	low, high := below(j-1), below(j)
	if !(high > low) {
		return s.grid[j]
	}
	return s.grid[j-1] + (s.grid[j]-s.grid[j-1])*min(1, max(0, (q*count-low)/(high-low)))
}
