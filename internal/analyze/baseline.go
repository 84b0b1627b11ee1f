package analyze

import (
	"math"
	"slices"
)

// A window is what one point did in one baseline: visits (N) in a time (W).
// Both are weighted by the runner's fading window. A far outlier is drawn in,
// see track.winsorise; raw is the time as it was.
type window struct {
	visits, time, raw float64
	size              float64 // as in observation
}

// worth is what the variance of a window is in proportion to.
func (w *window) worth() float64 {
	if w.size > 0 {
		return w.size
	}
	return w.time
}

// A segment is the baselines of one run at one point, in order of time. What
// lies in different runs is never compared.
type segment struct {
	base []window
	at   []int // which experiment of its run each was, ascending
	// loo, set by track.residuals, is the period expected of each baseline from
	// its neighbours, 0 where there are none.
	loo []float64
}

// A track is what the baselines say about one point: how long its period was at
// any moment, and how well that is known.
//
// The machine's speed drifts, so the period expected at a moment comes from the
// k nearest baselines on either side, the nearest weighing k, the next k-1, and
// so on: the ratio of their summed times to their summed visits. The ratio of
// sums, and not the mean of ratios, because it is defined when some baselines
// had no visits, and because it is what the program's throughput in the long run
// is: a program whose periods vary by themselves is not taken for a noisy one.
//
// k is chosen by leave-one-out prediction of the baselines themselves (see
// chooseReach): short where the speed drifts, long where the noise is in the
// single window. The price is a small conservatism, since a left-out baseline is
// further from its neighbours than an experiment is from the same ones.
type track struct {
	segments []segment
	k        int
	// bias is the mean ratio of the baselines' times to what leave-one-out
	// predicts: near 1, below it by the squared relative noise over the number
	// of neighbours (the mean of 1/N exceeds 1 over the mean of N). Expectations
	// are multiplied by it.
	bias float64
	// variance is that of one baseline of mean length about its expectation,
	// relative, drift between neighbours included; df says from how many.
	variance, df float64
	mean         float64 // length of a baseline window
	count        int
	visits       float64
	clip         bool // whether outliers are drawn in
	clipped      int

	scratch scratch
}

// period is the mean period over all baselines, infinite without visits.
func (t *track) period() float64 {
	if t.visits == 0 {
		return math.Inf(1)
	}
	return t.mean * float64(t.count) / t.visits
}

// reaches are the k that are tried; those beyond commonReach only where the
// common ones hold too few visits, since more baselines than that hardly make an
// expectation better, and only slower.
var reaches = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024}

const (
	commonReach = 64
	// clipAt is how many standard deviations (estimated from the median
	// deviation) a window may lie from what is expected before it is drawn in.
	// At 4, normal noise is left alone (1 in 16,000).
	clipAt = 4
	// clipShare is the largest share of windows, baselines and experiments
	// together, that may be called outliers. What happens more often (a collector's
	// cycle, a flush to disk) belongs to the program, and so does what a faster
	// line would change of it: then nothing is drawn in.
	clipShare = 0.10
	// fewVisits is how many visits the neighbours' windows must hold together.
	// With 10, chance alone moves an expectation by a third.
	fewVisits = 10
)

// newTrack measures the baselines of all runs at one point. clip says whether
// outliers are to be drawn in.
func newTrack(segments []segment, clip bool) *track {
	t := &track{segments: segments, bias: 1, clip: clip}
	for _, s := range segments {
		for _, w := range s.base {
			t.count++
			t.mean += w.time
			t.visits += w.visits
		}
	}
	if t.count == 0 {
		return t
	}
	t.mean /= float64(t.count)
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

// logRatio is the logarithm of how much longer a window took than expected of
// its visits. The halves keep it finite without visits and make its variance
// nearly constant in the mean for counts that are Poisson (Anscombe's idea).
func logRatio(visits, time, period float64) float64 {
	return math.Log((max(0, time/period) + 0.5) / (visits + 0.5))
}

// counting is the standard deviation that chance alone gives to logRatio when
// few visits are expected. Beyond 5 it is left to the data: visits may come more
// evenly than chance has them.
func counting(expected float64) float64 {
	if expected >= 5 {
		return 0
	}
	return 1 / math.Sqrt(expected+0.5)
}

// clipAroundMedian draws in the outliers relative to the median period of the
// nine windows around each. It comes first and needs no neighbour to be good:
// otherwise one bad window makes its neighbours look bad.
func (t *track) clipAroundMedian() {
	const around = 4
	var far []float64
	centres := make([][]float64, len(t.segments))
	for i, s := range t.segments {
		if len(s.base) < 5 {
			continue // no median worth the name
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
			w.drawIn(c[j], max(bound, (clipAt+1)*counting(w.raw/c[j])))
		}
	}
}

// clipBound is the distance from zero beyond which residuals are drawn in. Noise
// of a thousandth is nobody's outlier.
func clipBound(residuals []float64, sigmas float64) float64 {
	if len(residuals) == 0 {
		return math.Inf(1)
	}
	return max(sigmas*spread(residuals), 1e-3)
}

// drawIn sets the window's time so that its logRatio is within bound.
func (w *window) drawIn(period, bound float64) {
	w.time = w.raw
	e := logRatio(w.visits, w.raw, period)
	if math.Abs(e) > bound {
		w.time = max(0, ((w.visits+0.5)*math.Exp(math.Copysign(bound, e))-0.5)*period)
	}
}

// winsorise draws in the outliers relative to their neighbours.
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
				w.drawIn(s.loo[j], max(bound, clipAt*counting(w.raw/s.loo[j])))
			}
			if w.time != w.raw {
				t.clipped++
			}
		}
	}
}

// around calls f with each baseline that tells about the moment before the
// baseline at pos, and its weight; self, if not negative, is left out.
func (s *segment) around(pos, self, k int, f func(j int, weight float64)) {
	for side := range 2 {
		j, step := pos-1, -1
		if side == 1 {
			j, step = pos, 1
		}
		for near := k; near > 0 && j >= 0 && j < len(s.base); j += step {
			if j != self {
				f(j, float64(near))
				near--
			}
		}
	}
}

// expect returns the period that the neighbours of a moment expect, and how
// many visits that comes from; 0 if there were none.
func (s *segment) expect(pos, self, k int) (period, visits float64) {
	var time, weighed float64
	s.around(pos, self, k, func(j int, weight float64) {
		time += weight * s.base[j].time
		weighed += weight * s.base[j].visits
		visits += s.base[j].visits
	})
	if weighed == 0 {
		return 0, 0
	}
	return time / weighed, visits
}

// chooseReach sets k to the reach that predicts left-out baselines best, by the
// mean of squared logarithmic ratios (the windows have been drawn in: no
// outlier rules it). A reach at which a tenth of the expectations rests on fewer
// than fewVisits visits is out: the point is rare, and only many windows
// together tell its period.
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
	if math.IsInf(best, 1) { // nothing can be left out
		t.k = min(longest, commonReach)
	}
}

// residuals sets what is expected of each baseline by the others.
func (t *track) residuals() {
	for i := range t.segments {
		s := &t.segments[i]
		s.loo = make([]float64, len(s.base))
		for j := range s.base {
			s.loo[j], _ = s.expect(j, j, t.k)
		}
	}
}

// measure sets bias and variance from what leave-one-out leaves.
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
	// The squared residual, relative to the window's length, is the variance of
	// one window times 1 + the sum of its neighbours' squared shares. A longer
	// window is a mean of more, and counts accordingly.
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
		// Outliers that were drawn in carry no information on the variance
		// (Tukey and McLaughlin, Sankhya A 25, 1963).
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

// shares appends the parts that the neighbours have in the expected period, in
// time, and returns the sum of their squares.
func (s *segment) shares(pos, self, k int, to []share) ([]share, float64) {
	total, squares := 0.0, 0.0
	s.around(pos, self, k, func(j int, weight float64) {
		x := weight * s.base[j].worth()
		total += x
		squares += x * x
	})
	if total == 0 {
		return to, 0
	}
	if to != nil {
		s.around(pos, self, k, func(j int, weight float64) {
			to = append(to, share{j, weight * s.base[j].worth() / total})
		})
	}
	return to, squares / (total * total)
}
