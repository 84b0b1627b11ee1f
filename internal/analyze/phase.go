package analyze

import (
	"math"
	"slices"
)

// The phase correction. A unit that was chosen because it had just been running
// is tried only in the phase of the program in which it runs. Two things are
// wrong with what is measured there. The gain is that of the phase; for the whole
// it has to be multiplied by the part of the time that the phase takes (paper,
// equations 5 to 8)
//
//	t_A/T = (s/T) / (s_obs/t_obs)
//
// the rate of the unit's samples over the whole run, over their rate in its
// experiments. And the period in that phase may differ from that in the
// baselines around.
//
// The rate over the whole run comes from the baselines. The rate in the
// experiments is that of samples per expected time, X: how often a unit runs in
// a second changes with the delays, in a direction that depends on what waits for
// what, but how often it runs for a visit does not. So the corrected gain of a
// level is Σ(X-W)/ΣY, where Y is the number of the unit's samples over their rate
// in the whole run. Where the unit ran more by chance the gain is larger in
// proportion, and the quotient cancels that: it is the ratio estimator of survey
// sampling (Cochran, Sampling Techniques, ch. 6), and often less noisy than
// what it corrects. It goes wrong where a unit spins: waiting takes more samples
// when what is waited for is delayed.
//
// For the period, the surplus of the baseline that was drawn together with the
// experiment, in random order and so as far inside the phase, is subtracted from
// the experiment's. Both are compared with the same baselines around, that one left out: what
// these say of the period is then in both, and cancels.
//
// Without phases both would only add noise. Choosing a unit with a chance in
// proportion to its rate raises the rate that is seen by the factor 1 + CV², where
// CV is the coefficient of variation of the rate between windows, beyond that of
// chance; and the baselines tell CV. Where it is small nothing is corrected
// (phaseCV2, phaseSigmas). Units named by the user are tried at all times, and a
// whole run has no phases: these are never corrected.

const (
	// phaseCV2: an error of a tenth of a gain is not worth a correction.
	phaseCV2 = 0.1
	// phaseSigmas is how far beyond chance the counts of samples must scatter.
	phaseSigmas = 3
	// phaseWindows is how many baselines it takes to see a phase.
	phaseWindows = 5
)

// phasing is how a target's samples are spread over the baselines.
type phasing struct {
	phased   bool
	rates    []float64 // by run: samples per ns, 0 if not known
	variance float64   // relative, of the rates
}

// phases finds the targets that run in phases.
func (in *input) phases() []phasing {
	all := make([]phasing, len(in.targets))
	moments := make([]scatter, len(in.targets))
	for u := range all {
		all[u].rates = make([]float64, len(in.runs))
	}
	for r, d := range in.runs {
		if d.Run.WholeRuns || len(d.Run.Targets) > 0 {
			continue
		}
		in.scatterOf(r, all, moments)
	}
	for u := range all {
		all[u].phased, all[u].variance = moments[u].phased()
	}
	return all
}

// scatter sums up, over runs, how much the samples in windows differ from what
// the run's mean rate lets expect.
type scatter struct {
	windows, df      float64
	expected         float64 // Σ μ
	squares          float64 // Σ (n-μ)²
	expectedSquares  float64 // Σ μ²
	relativeVariance float64 // Σ over runs of the mean's, weighted by windows
}

// scatterOf adds run r to every target's scatter and sets their rates in it.
func (in *input) scatterOf(r int, all []phasing, moments []scatter) {
	d := in.runs[r]
	bases := in.bases[r]
	var time, timeSquares float64
	for _, i := range bases {
		t := float64(d.Experiments[i].RealNS)
		time += t
		timeSquares += t * t
	}
	m := float64(len(bases))
	if m < 2 {
		return
	}
	type sums struct {
		n, nn, nt float64
		x, xx     float64 // Σ of the rates and of their squares
		last      int     // the latest baseline with samples of the unit, from 1
		rate      float64 // in it
		steps     float64 // Σ of squared differences between successive rates
	}
	seen := map[int]*sums{}
	var order []int
	for j, i := range bases {
		e := &d.Experiments[i]
		for id, count := range tookPart(&d.Run, e) {
			u := in.unitOf[r][id]
			s := seen[u]
			if s == nil {
				s = &sums{}
				seen[u] = s
				order = append(order, u)
			}
			// Whole numbers: exact, in whatever order the map gives them.
			n := float64(count)
			s.n += n
			s.nn += n * n
			s.nt += n * float64(e.RealNS)
			x := n / float64(e.RealNS)
			s.x += x
			s.xx += x * x
			switch {
			case s.last == j && j > 0:
				s.steps += (x - s.rate) * (x - s.rate)
			case s.last > 0: // down to zero, and up again
				s.steps += s.rate*s.rate + x*x
			case j > 0:
				s.steps += x * x
			}
			s.last, s.rate = j+1, x
		}
	}
	slices.Sort(order)
	for _, u := range order {
		s := seen[u]
		rate := s.n / time
		all[u].rates[r] = rate
		mo := &moments[u]
		squares := s.nn - 2*rate*s.nt + rate*rate*timeSquares
		mo.windows += m
		mo.df += m - 1
		mo.expected += s.n
		mo.squares += squares
		mo.expectedSquares += rate * rate * timeSquares
		if s.last < len(bases) {
			s.steps += s.rate * s.rate
		}
		if s.n > 0 {
			// Chance is in all of these, as in counts: its variance, relative.
			chance := m / s.n
			spread := (s.xx-s.x*s.x/m)/(m-1)/(rate*rate) - chance
			steps := s.steps/(2*(m-1))/(rate*rate) - chance
			mo.relativeVariance += chance + sampled(spread, steps)
		}
	}
}

// sampled is m times the variance of the mean of m windows that are spread evenly over time, as an
// estimate of the mean over all of the time: the windows' own variance is spread, and half of the mean square of the
// steps from one to the next is steps. Phases that are longer than the gaps between windows are hit by every
// window that they ought to be hit by, and only where they begin and end is chance. How long they are the windows'
// correlation with the next tells (Cochran 1946; Wolter, Introduction to Variance Estimation, ch. 8, estimator 8), which
// is taken to fall exponentially, as it does where phases change at random moments. Where there is no
// correlation the windows are taken for a random sample: shorter phases that are regular are better known than that.
func sampled(spread, steps float64) float64 {
	if spread <= 0 || steps <= 0 {
		return 0
	}
	r := 1 - steps/spread
	if r <= 0 {
		return spread
	}
	return spread * max(0, 1+2/math.Log(r)+2/(1/r-1))
}

// phased decides, and gives the relative variance of the rate.
func (s *scatter) phased() (bool, float64) {
	if s.windows < phaseWindows || s.expected == 0 || s.df < 1 {
		return false, 0
	}
	// Of Poisson counts, squares is expected to be Σμ, with a relative standard
	// deviation of √(2/df).
	lots := s.squares > s.expected*(1+phaseSigmas*math.Sqrt(2/s.df))
	cv2 := (s.squares - s.expected) / s.expectedSquares
	return lots && cv2 > phaseCV2, s.relativeVariance / s.windows
}

// correct applies the correction to the trials of a phased target and returns
// the factor that it comes to.
func (p *phasing) correct(t *track, trials []trial) float64 {
	var expected, byRate float64
	for i := range trials {
		tr := &trials[i]
		rate := p.rates[tr.run]
		if rate == 0 {
			continue
		}
		s := &t.segments[tr.run]
		paired := tr.partner >= 0 && s.loo[tr.partner] > 0 && s.base[tr.partner].time > 0
		if paired {
			tr.expected = tr.visits * s.loo[tr.partner] * t.bias * (1 - tr.drag)
		}
		expected += tr.expected
		y := tr.samples / rate
		byRate += y
		tr.time += y - tr.expected
		tr.expected = y
		if paired {
			w := s.base[tr.partner]
			surplus := (w.time - w.visits*s.loo[tr.partner]*t.bias) / w.time
			if tr.exposure == 0 { // no outlier was looked for
				tr.exposure = max(tr.real, 1)
			}
			tr.time -= surplus * tr.exposure
			tr.paired, tr.squares = true, 0
		}
	}
	if expected == 0 || byRate == 0 {
		return 1
	}
	return expected / byRate
}
