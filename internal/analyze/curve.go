package analyze

import "math"

// A curve is the gain as a function of the speed-up, estimated from all levels
// together: with 20 speed-ups and a few dozen experiments a level has hardly two,
// but its neighbours know nearly as much about it.
//
// The method is Gaussian-process regression, averaged over models. In all of them
// the gain is a straight line through the origin, of which nothing is known
// beforehand, plus nothing else (the line is critical all the way); or plus a bend
// at one speed-up, each of a grid (from there on something else is critical, or
// begins to be in the way); or plus a process whose slope wanders as Brownian
// motion does, which is the Bayesian form of the cubic smoothing spline (Wahba,
// J. R. Stat. Soc. B 40, 1978), for whatever else there may be. The data weigh the
// models by their likelihood, and the result is the mixture: mean and variance, the
// models' disagreement included.
//
// Such intervals cover on the average over the curve, not at each point of it
// (Nychka, J. Am. Stat. Assoc. 83, 1988): right at a sharp bend they cover less, on
// straight stretches more (measured: see TestCoverage).
type curve struct {
	mean, sd []float64
}

// A model is a prior covariance of the gain's departure from a straight line.
type model struct {
	weight float64 // beforehand
	bend   float64 // at which speed-up; 0 for none
	wander float64 // standard deviation of the slope's change by wandering from 0 to 100%
}

// bendSize is the standard deviation of the slope's change at a bend: a line that
// rises at slope 1 and turns flat has 1.
const bendSize = 1

// models of the gain in throughput: half straight, a third bent, the rest wandering a little or a lot.
var models = mixture(0.5, 0.32, 0.18)

// bowedModels are those of latencies. Where requests wait for each other the latency is no straight
// line of the speed-up, and has no corner either: the straight line would be believed too often.
var bowedModels = mixture(0.05, 0.15, 0.8)

func mixture(straight, bent, wandering float64) []model {
	m := []model{{weight: straight}, {weight: wandering / 2, wander: 0.5}, {weight: wandering / 2, wander: 2}}
	for bend := 5; bend < 100; bend += 5 {
		m = append(m, model{weight: bent / 19, bend: float64(bend) / 100})
	}
	return m
}

// kernel is the prior covariance of the gains at speed-ups s and t.
func (m model) kernel(s, t float64) float64 {
	lo, hi := min(s, t), max(s, t)
	k := slopePrior*slopePrior*s*t + m.wander*m.wander*lo*lo*(3*hi-lo)/6
	if m.bend > 0 && lo > m.bend {
		k += bendSize * bendSize * (s - m.bend) * (t - m.bend)
	}
	return k
}

// slopePrior is the standard deviation of the slope beforehand: so wide that it
// says nothing.
const slopePrior = 5

// newCurve estimates gains at speed-ups at (as fractions) from gains y, with
// covariance cov, at speed-ups x. ok is false if the numbers do not allow it.
func newCurve(models []model, x, y []float64, cov matrix, at []float64) (c curve, ok bool) {
	c = curve{mean: make([]float64, len(at)), sd: make([]float64, len(at))}
	reg := newRegression(x, y, cov, at)
	best := math.Inf(-1)
	total := 0.0
	// Weights are relative to the best model so far.
	for _, m := range models {
		if m.bend >= x[len(x)-1] {
			continue // as good as straight
		}
		logLik, ok := reg.posterior(m)
		if !ok {
			continue
		}
		if logLik > best {
			shrink := math.Exp(best - logLik)
			total *= shrink
			for j := range at {
				c.mean[j] *= shrink
				c.sd[j] *= shrink
			}
			best = logLik
		}
		w := m.weight * math.Exp(logLik-best)
		total += w
		for j := range at {
			c.mean[j] += w * reg.mean[j]
			c.sd[j] += w * (reg.variance[j] + reg.mean[j]*reg.mean[j])
		}
	}
	if !(total > 0) {
		return c, false
	}
	for j := range at {
		c.mean[j] /= total
		c.sd[j] = math.Sqrt(math.Max(0, c.sd[j]/total-c.mean[j]*c.mean[j]))
	}
	return c, true
}

// A regression holds what the models have in common, and room to work in.
type regression struct {
	x, y, at       []float64
	cov, k         matrix
	z, b           []float64
	mean, variance []float64
}

func newRegression(x, y []float64, cov matrix, at []float64) *regression {
	n := len(x)
	return &regression{x: x, y: y, at: at, cov: cov, k: newMatrix(n), z: make([]float64, n), b: make([]float64, n),
		mean: make([]float64, len(at)), variance: make([]float64, len(at))}
}

// posterior sets mean and variance to those under one model and returns the
// logarithm of the data's likelihood, but for a constant.
func (r *regression) posterior(m model) (logLik float64, ok bool) {
	copy(r.k.a, r.cov.a)
	for i, s := range r.x {
		for j, t := range r.x {
			r.k.add(i, j, m.kernel(s, t))
		}
		r.k.add(i, i, leastVariance)
	}
	logDet, ok := r.k.cholesky()
	if !ok {
		return 0, false
	}
	copy(r.z, r.y)
	r.k.forward(r.z)
	logLik = -0.5 * (dot(r.z, r.z) + logDet)
	for j, s := range r.at {
		for i, t := range r.x {
			r.b[i] = m.kernel(s, t)
		}
		r.k.forward(r.b)
		r.mean[j] = dot(r.b, r.z)
		r.variance[j] = math.Max(0, m.kernel(s, s)-dot(r.b, r.b))
	}
	return logLik, !math.IsNaN(logLik) && !math.IsInf(logLik, 0)
}
