package analyze

import (
	"iter"
	"math"
	"slices"
)

// A window is what one point did in one baseline: visits (N) in a time (W). The runner weights both
// by a window that fades in and out. The time of a far outlier is clipped (track.winsorise); raw is
// the unclipped time.
type window struct {
	visits, time, raw float64
	size              float64 // as in observation
}

// worth is what the variance of a window is proportional to.
func (w *window) worth() float64 {
	if w.size > 0 {
		return w.size
	}
	return w.time
}

// A segment is the baselines of one run at one point, in order of time. Windows of different runs
// are never compared.
type segment struct {
	base []window
	at   []int // index of each in its run's experiments, ascending
	// loo is the leave-one-out prediction: the period that the neighbours of each baseline predict
	// for it, or 0 if it has none. track.residuals sets it.
	loo []float64
}

// A track is what the baselines say about one point: its period at any moment, and how well that is
// known.
//
// The machine's speed drifts. So the period expected at a moment comes from the k nearest baselines
// on either side. The nearest one weighs k, the next k-1, and so on. The expected period is the
// ratio of their summed times to their summed visits. A mean of ratios would not be defined if a
// baseline had no visits. The ratio of sums also is the program's throughput in the long run, so a
// program with periods that vary by themselves does not count as noisy.
//
// k is chosen by leave-one-out prediction of the baselines themselves (chooseReach): short where
// the speed drifts, long where the noise is in the single window. The price is that estimates of
// noise are a little too large, since a left-out baseline is further from its neighbours than an
// experiment is from the same ones.
type track struct {
	segments []segment
	k        int
	// bias is the mean ratio of the baselines' times to their leave-one-out predictions. It is
	// below 1 by about the squared relative noise over the number of neighbours (the mean of 1/N
	// exceeds 1 over the mean of N). Expectations are multiplied by it.
	bias float64
	// variance is the relative variance of a baseline of mean length about its expectation,
	// including the drift between neighbours; df is its degrees of freedom.
	variance, df float64
	mean         float64 // mean length of a baseline window
	whole        float64 // mean length of a whole baseline, if a target runs in phases
	count        int
	visits       float64
	clip         bool // whether outliers are clipped
	clipped      int

	scratch scratch
}

// meanLength is the mean length of the baselines in some segments.
func meanLength(segments []segment) float64 {
	sum, n := 0.0, 0
	for i := range segments {
		for _, w := range segments[i].base {
			sum += w.time
		}
		n += len(segments[i].base)
	}
	return sum / float64(max(1, n))
}

// period is the mean period over all baselines; infinite without visits.
func (t *track) period() float64 {
	if t.visits == 0 {
		return math.Inf(1)
	}
	return t.mean * float64(t.count) / t.visits
}

// reaches are the values of k that are tried. Those beyond commonReach are tried only if the common
// ones hold too few visits: more baselines than that hardly improve an expectation, and cost time.
var reaches = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024}

const (
	commonReach = 64
	// clipAt is how many standard deviations (estimated from the median deviation) a window may lie
	// from its expectation before it is clipped. At 4, normal noise is left alone (1 in 16,000).
	clipAt = 4
	// clipShare is the largest share of windows, baselines and experiments together, that may be
	// called outliers. What happens more often (a collector's cycle, a flush to disk) belongs to
	// the program, and a faster line would change it too. Then nothing is clipped.
	clipShare = 0.10
	// fewVisits is how many visits the neighbours' windows must hold together. With 10, chance
	// alone moves an expectation by a third.
	fewVisits = 10
)

// newTrack measures the baselines of all runs at one point. clip says whether to clip outliers.
func newTrack(segments []segment, clip bool) *track {
	t := &track{segments: segments, bias: 1, clip: clip, mean: meanLength(segments)}
	for _, s := range segments {
		for _, w := range s.base {
			t.count++
			t.visits += w.visits
		}
	}
	if t.count == 0 {
		return t
	}
	if clip {
		t.clipAroundMedian()
		t.chooseReach()
		t.residuals()
		t.winsorise()
	}
	t.chooseReach()
	t.residuals()
	t.measure()
	return t
}

// logRatio is the logarithm of a window's time over the time that its visits should have taken. The
// added halves keep it finite without visits, and make its variance nearly constant for counts with
// a Poisson distribution (Anscombe's idea).
func logRatio(visits, time, period float64) float64 {
	return math.Log((max(0, time/period) + 0.5) / (visits + 0.5))
}

// countingNoise is the standard deviation that chance alone gives to logRatio if few visits are
// expected. With 5 or more it is 0, and the data tell the noise: visits may come more evenly than
// by chance.
func countingNoise(expected float64) float64 {
	if expected >= 5 {
		return 0
	}
	return 1 / math.Sqrt(expected+0.5)
}

// clipAroundMedian clips outliers relative to the median period of the nine windows around each. It
// comes first because it does not need good neighbours; otherwise one bad window would make its
// neighbours look bad.
func (t *track) clipAroundMedian() {
	const around = 4
	var far []float64
	centres := make([][]float64, len(t.segments))
	for i, s := range t.segments {
		if len(s.base) < 5 {
			continue // too few for a useful median
		}
		centres[i] = make([]float64, len(s.base))
		near := make([]float64, 0, 2*around+1)
		for j, w := range s.base {
			lo := max(0, min(j-around, len(s.base)-2*around-1))
			near = near[:0]
			for _, v := range s.base[lo:min(len(s.base), lo+2*around+1)] {
				near = append(near, v.time/(v.visits+0.5))
			}
			centres[i][j] = median(near)
			far = append(far, math.Log(w.time/(w.visits+0.5)/centres[i][j]))
		}
	}
	bound := clipBound(far, clipAt+1)
	for i, c := range centres {
		for j := range c {
			w := &t.segments[i].base[j]
			w.clipTo(c[j], max(bound, (clipAt+1)*countingNoise(w.raw/c[j])))
		}
	}
}

// clipBound is the distance from zero beyond which residuals are clipped. Noise of a thousandth
// never makes an outlier.
func clipBound(residuals []float64, sigmas float64) float64 {
	if len(residuals) == 0 {
		return math.Inf(1)
	}
	return max(sigmas*spread(residuals), 1e-3)
}

// clipTo limits the window's time so that its logRatio is within bound.
func (w *window) clipTo(period, bound float64) {
	w.time = w.raw
	e := logRatio(w.visits, w.raw, period)
	if math.Abs(e) > bound {
		w.time = max(0, ((w.visits+0.5)*math.Exp(math.Copysign(bound, e))-0.5)*period)
	}
}

// winsorise clips outliers relative to their neighbours.
func (t *track) winsorise() {
	var far []float64
	for _, s := range t.segments {
		for j, w := range s.base {
			if s.loo[j] > 0 {
				far = append(far, logRatio(w.visits, w.raw, s.loo[j]))
			}
		}
	}
	bound := clipBound(far, clipAt)
	t.clipped = 0
	for _, s := range t.segments {
		for j := range s.base {
			w := &s.base[j]
			if s.loo[j] > 0 {
				w.clipTo(s.loo[j], max(bound, clipAt*countingNoise(w.raw/s.loo[j])))
			}
			if w.time != w.raw {
				t.clipped++
			}
		}
	}
}

// around gives each baseline that predicts the moment before the baseline at pos, and its weight: the nearest of the k
// on either side weighs k. The baseline self is left out, if it is not negative.
func (s *segment) around(pos, self, k int) iter.Seq2[int, float64] {
	return func(yield func(j int, weight float64) bool) {
		for side := range 2 {
			j, step := pos-1, -1
			if side == 1 {
				j, step = pos, 1
			}
			for weight := k; weight > 0 && j >= 0 && j < len(s.base); j += step {
				if j == self {
					continue
				}
				if !yield(j, float64(weight)) {
					return
				}
				weight--
			}
		}
	}
}

// expect returns the period that the neighbours of a moment predict, and the number of their visits; 0 if there were
// none.
func (s *segment) expect(pos, self, k int) (period, visits float64) {
	var time, weighed float64
	for j, weight := range s.around(pos, self, k) {
		w := &s.base[j]
		time += weight * w.time
		weighed += weight * w.visits
		visits += w.visits
	}
	if weighed == 0 {
		return 0, 0
	}
	return time / weighed, visits
}

// chooseReach sets k to the reach that predicts left-out baselines best, by the mean of squared
// logarithmic ratios. (The windows are clipped already, so no outlier decides.) A reach is excluded
// if a tenth of its expectations rest on fewer than fewVisits visits: the point is rare, and only
// many windows together tell its period.
func (t *track) chooseReach() {
	longest := 0
	for _, s := range t.segments {
		longest = max(longest, len(s.base))
	}
	best := math.Inf(1)
	var visits []float64
	for _, k := range reaches {
		sum, n := 0.0, 0
		visits = visits[:0]
		for _, s := range t.segments {
			for j, w := range s.base {
				period, v := s.expect(j, j, k)
				visits = append(visits, v)
				if period > 0 {
					e := logRatio(w.visits, w.time, period)
					sum += e * e
					n++
				}
			}
		}
		slices.Sort(visits)
		enough := quantile(visits, 0.1) >= fewVisits
		last := k >= longest || k >= commonReach && enough || k == reaches[len(reaches)-1]
		if loss := sum / float64(n); n > 0 && loss < best && (last || enough) {
			best, t.k = loss, k
		}
		if last {
			break
		}
	}
	if math.IsInf(best, 1) { // there are too few baselines to leave one out
		t.k = min(longest, commonReach)
	}
}

// residuals sets the leave-one-out prediction of each baseline.
func (t *track) residuals() {
	for i := range t.segments {
		s := &t.segments[i]
		s.loo = make([]float64, len(s.base))
		for j := range s.base {
			s.loo[j], _ = s.expect(j, j, t.k)
		}
	}
}

// measure sets bias and variance from the leave-one-out residuals.
func (t *track) measure() {
	var times, expected float64
	for _, s := range t.segments {
		for j, w := range s.base {
			if s.loo[j] > 0 && w.time > 0 {
				times += w.time
				expected += w.visits * s.loo[j]
			}
		}
	}
	if times == 0 || expected == 0 {
		return
	}
	t.bias = times / expected
	// The squared residual, relative to the window's length, is the variance of one window times 1
	// + the sum of its neighbours' squared shares. A longer window is a mean of more, and counts
	// accordingly.
	var sum float64
	for i := range t.segments {
		s := &t.segments[i]
		for j, w := range s.base {
			if s.loo[j] == 0 || w.worth() == 0 {
				continue
			}
			r := (w.time - w.visits*s.loo[j]*t.bias) / w.worth()
			_, squares := s.shares(j, j, t.k, nil)
			sum += r * r * w.worth() / t.mean / (1 + squares)
			t.df++
		}
	}
	if t.df > 0 {
		t.variance = sum / t.df
		// Clipped outliers carry no information on the variance (Tukey and McLaughlin, Sankhya A
		// 25, 1963).
		if kept := t.df - float64(t.clipped); kept > 1 {
			t.variance *= (t.df / kept) * (t.df / kept)
			t.df = kept
		}
	}
}

// A share is a baseline's part in an expectation.
type share struct {
	j    int
	part float64
}

// shares appends the parts that the neighbours have in the period that expect returns, by time, and returns the sum of
// their squares. With nil it returns only that.
func (s *segment) shares(pos, self, k int, to []share) ([]share, float64) {
	total, squares, first := 0.0, 0.0, len(to)
	for j, weight := range s.around(pos, self, k) {
		x := weight * s.base[j].worth()
		total += x
		squares += x * x
		if to != nil {
			to = append(to, share{j, x})
		}
	}
	if total == 0 {
		return to[:first], 0
	}
	for i := first; i < len(to); i++ {
		to[i].part /= total
	}
	return to, squares / (total * total)
}
