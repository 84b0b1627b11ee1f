package analyze

import (
	"math"
	"slices"
)

// The phase correction. A unit that was chosen because it had just been running is tried only in
// the phase of the program in which it runs. Its measurements are wrong in two ways. First, the
// gain is that of the phase. For the whole program it has to be multiplied by the part of the time
// that the phase takes (paper, equations 5 to 8)
//
//	t_A/T = (s/T) / (s_obs/t_obs)
//
// which is the rate of the unit's samples over the whole run, over their rate in its experiments.
// Second, the period in that phase may differ from that in the baselines around.
//
// The rate over the whole run comes from the baselines. The rate in the experiments is that of
// samples per expected time, X. Delays change how often a unit runs in a second, in a direction
// that depends on what waits for what, but not how often it runs for a visit. So the corrected gain
// of a level is Σ(X-W)/ΣY, where Y is the number of the unit's samples over their rate in the whole
// run. If the unit ran more by chance, the gain is larger in proportion, and the quotient cancels
// that. It is the ratio estimator of survey sampling (Cochran, Sampling Techniques, ch. 6), and
// often less noisy than the uncorrected gain. It is wrong for a unit that spins, because waiting
// takes more samples when the releaser is delayed. If the unit hardly ran in the experiments of a
// level, the quotient divides noise by next to nothing, and says nothing. So levels count by Y, in
// the curve by its square.
//
// Experiments count as a whole: visits in the window that fades in and out are weighed by virtual
// time, of which an experiment has hardly any while a unit runs at a high speed-up. If the unit runs
// at its beginning only, as it does where a phase ends, its visits hardly count, while its samples
// would; and if it runs all the time, nothing is in the window.
//
// For the period, the surplus of a baseline is subtracted from that of the experiment: of the
// baseline that was drawn together with the experiment, in random order, and is as far inside the
// phase. Both are compared with the same baselines around, without this one, so the error of their
// period is in both and cancels.
//
// Without phases both corrections would only add noise. If a unit is chosen with a probability
// proportional to its rate, the rate in its experiments is higher by the factor 1 + CV², where CV
// is the coefficient of variation of the rate between windows, beyond chance. The baselines show
// CV. If it is small, nothing is corrected (phaseCV2, phaseSigmas). Units named by the user are
// tried at all times, and a whole run has no phases: these are never corrected.

const (
	// phaseCV2 is the CV² from which gains are corrected: an error of a tenth of a gain is not
	// worth a correction.
	phaseCV2 = 0.1
	// phaseSigmas is how many standard deviations the counts of samples must scatter beyond chance.
	phaseSigmas = 3
	// phaseWindows is how many baselines it takes to see a phase.
	phaseWindows = 5
)

// A phasing is how a target's samples are spread over the baselines.
type phasing struct {
	phased   bool
	rates    []float64 // by run: samples per ns, 0 if not known
	variance float64   // relative variance of the rates
}

// view is the one of two views of a point that tells the target's gain: see, or that of whole experiments.
func (p *phasing) view(see, whole view) view {
	if p.phased {
		return whole
	}
	return see
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

// A scatter sums up, over runs, by how much the samples in windows (n) differ from those expected
// at the run's mean rate (μ).
type scatter struct {
	windows, df      float64
	expected         float64 // Σ μ
	squares          float64 // Σ (n-μ)²
	expectedSquares  float64 // Σ μ²
	relativeVariance float64 // Σ over runs of the mean's relative variance, weighted by windows
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
	if len(bases) < 2 {
		return
	}
	seen := map[int]*rateSums{}
	var order []int
	for j, i := range bases {
		e := &d.Experiments[i]
		for id, count := range participation(&d.Run, e) {
			u := in.unitOf[r][id]
			if seen[u] == nil {
				seen[u] = &rateSums{}
				order = append(order, u)
			}
			seen[u].add(j, float64(count), float64(e.RealNS))
		}
	}
	slices.Sort(order)
	for _, u := range order {
		all[u].rates[r] = seen[u].n / time
		moments[u].add(seen[u], len(bases), time, timeSquares)
	}
}

// rateSums sums up the rates of a unit's samples over the baselines of a run. Baselines without
// samples are not added; they count as a rate of 0.
type rateSums struct {
	n, nn, nt float64 // Σ of the counts, of their squares, and of their products with the time
	x, xx     float64 // Σ of the rates and of their squares
	last      int     // the latest baseline with samples of the unit, from 1
	rate      float64 // the rate in that baseline
	steps     float64 // Σ of squared differences between successive rates
}

// add adds n samples in baseline j. n are whole numbers, so the sums are exact in any order of units.
func (s *rateSums) add(j int, n, time float64) {
	s.n += n
	s.nn += n * n
	s.nt += n * time
	x := n / time
	s.x += x
	s.xx += x * x
	switch {
	case s.last == j && j > 0:
		s.steps += (x - s.rate) * (x - s.rate)
	case s.last > 0: // the rate fell to zero in between, and rose again
		s.steps += s.rate*s.rate + x*x
	case j > 0:
		s.steps += x * x
	}
	s.last, s.rate = j+1, x
}

// add adds the sums over the baselines of a run.
func (sc *scatter) add(s *rateSums, baselines int, time, timeSquares float64) {
	m, rate := float64(baselines), s.n/time
	sc.windows += m
	sc.df += m - 1
	sc.expected += s.n
	sc.squares += s.nn - 2*rate*s.nt + rate*rate*timeSquares
	sc.expectedSquares += rate * rate * timeSquares
	if s.n <= 0 {
		return
	}
	if s.last < baselines {
		s.steps += s.rate * s.rate
	}
	// Subtract the relative variance that chance gives to counts.
	chance := m / s.n
	spread := (s.xx-s.x*s.x/m)/(m-1)/(rate*rate) - chance
	steps := s.steps/(2*(m-1))/(rate*rate) - chance
	sc.relativeVariance += chance + sampled(spread, steps)
}

// sampled estimates m times the variance of the mean of m windows, as an estimate of the mean over
// all of the time. The windows are spread evenly over time, their own variance is spread, and half
// of the mean square of the steps from one to the next is steps. If phases are longer than the gaps
// between windows, the right number of windows hits each of them, and only their ends are left to
// chance. The correlation of successive windows tells how long phases are (Cochran 1946; Wolter,
// Introduction to Variance Estimation, ch. 8, estimator 8). It is taken to fall exponentially, as
// it does if phases change at random moments. Without correlation the windows count as a random
// sample, although shorter phases that are regular are better known than that.
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

// phased decides whether there are phases, and gives the relative variance of the rate.
func (s *scatter) phased() (bool, float64) {
	if s.windows < phaseWindows || s.expected == 0 || s.df < 1 {
		return false, 0
	}
	// If the counts are Poisson, squares is expected to be Σμ, with a relative standard deviation
	// of √(2/df).
	lots := s.squares > s.expected*(1+phaseSigmas*math.Sqrt(2/s.df))
	cv2 := (s.squares - s.expected) / s.expectedSquares
	return lots && cv2 > phaseCV2, s.relativeVariance / s.windows
}

// correct applies the correction to the trials of a phased target, and returns the factor that it
// multiplied their gains by.
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
			tr.expected = tr.visits * s.loo[tr.partner] * t.bias * (1 - tr.delayBias)
		}
		expected += tr.expected
		y := tr.samples / rate
		byRate += y
		tr.time += y - tr.expected
		tr.expected, tr.weight, tr.linear = y, y, true
		if paired {
			w := s.base[tr.partner]
			surplus := (w.time - w.visits*s.loo[tr.partner]*t.bias) / w.time
			if tr.exposure == 0 { // outliers were not clipped
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

// divide makes a level's gain the quotient of what correct has left in its trials, if it has corrected all of them.
// Without any sample the divisor is that of one, so the gain has no meaning, and its interval says so.
func (p *phasing) divide(s *levelSum, trials []trial) {
	s.linear, s.visits = true, 0
	for i := range trials {
		s.linear = s.linear && trials[i].linear
		s.visits += trials[i].visits
	}
	rate := p.rates[trials[0].run]
	if s.linear && s.expected*rate < 1 {
		s.time += 1/rate - s.expected
		s.expected = 1 / rate
		s.weight = max(s.weight, 1/rate)
	}
}
