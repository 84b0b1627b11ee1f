package analyze

import "math"

// A curve is the gain as a function of the speed-up, estimated from all levels together. With 20
// speed-ups and a few dozen experiments a level has hardly two experiments, but its neighbours say
// nearly as much about it.
//
// The method is Gaussian-process regression, averaged over models. In all models the gain is a
// straight line through the origin, with an uninformative prior. The models differ in what they
// add:
//
//   - nothing (the code is critical all the way);
//   - a bend at one speed-up, each of a grid (from there on other code is critical, or begins to be
//     in the way);
//   - a process with a slope that changes as Brownian motion, for any other shape. This is the
//     Bayesian form of the cubic smoothing spline (Wahba, J. R. Stat. Soc. B 40, 1978).
//
// Each model's weight is its likelihood given the data. The result is the mean and variance of the
// mixture, including the models' disagreement.
//
// Such intervals cover on the average over the curve, not at each point of it (Nychka, J. Am. Stat.
// Assoc. 83, 1988). At a sharp bend they cover less, on straight stretches more (measured: see
// TestCoverage).
type curve struct {
	mean, sd []float64
}

// A model is a prior covariance of the gain's departure from a straight line.
type model struct {
	weight float64 // prior weight
	bend   float64 // the speed-up at which it bends; 0 for none
	wander float64 // standard deviation of the slope's random change between 0 and 100%
}

// bendSize is the standard deviation of the slope's change at a bend: a line that rises at slope 1
// and turns flat has 1.
const bendSize = 1

// models is the prior for throughput: half straight, a third bent, the rest with random slopes.
var models = mixture(0.5, 0.32, 0.18)

// bowedModels is the prior for latencies. If requests wait for each other, the latency is no
// straight line of the speed-up, and has no corner either. With the prior for throughput, the
// straight line would be believed too often.
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
	lo, hi := s, t
	if t < s {
		lo, hi = t, s
	}
	k := slopePrior * slopePrior * s * t
	if m.wander > 0 {
		k += m.wander * m.wander * lo * lo * (3*hi - lo) / 6
	}
	if m.bend > 0 && lo > m.bend {
		k += bendSize * bendSize * (s - m.bend) * (t - m.bend)
	}
	return k
}

// slopePrior is the prior standard deviation of the slope: so wide that it is uninformative.
const slopePrior = 5

// newCurve estimates the gains at the speed-ups in at (as fractions), from gains y with covariance
// cov at speed-ups x. ok is false if the numbers do not allow it.
func newCurve(models []model, x, y []float64, cov matrix, at []float64) (c curve, ok bool) {
	c = curve{mean: make([]float64, len(at)), sd: make([]float64, len(at))}
	reg := newRegression(x, y, cov, at)
	best := math.Inf(-1)
	total := 0.0
	// Weights are relative to the best model so far, because likelihoods may be too small for a
	// float64.
	for _, m := range models {
		if m.bend >= x[len(x)-1] {
			continue // within the data it is straight
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

// A regression holds the data that all models have in common, and working memory.
type regression struct {
	x, y, at       []float64
	cov, k         matrix
	z              []float64
	b              []float64 // a row for each of x, and a column for each of at
	mean, variance []float64
}

func newRegression(x, y []float64, cov matrix, at []float64) *regression {
	n := len(x)
	return &regression{x: x, y: y, at: at, cov: cov, k: newMatrix(n), z: make([]float64, n), b: make([]float64, n*len(at)),
		mean: make([]float64, len(at)), variance: make([]float64, len(at))}
}

// posterior sets mean and variance to those under one model. It returns the logarithm of the data's
// likelihood, up to a constant.
func (r *regression) posterior(m model) (logLik float64, ok bool) {
	copy(r.k.a, r.cov.a)
	for i, s := range r.x { // cholesky reads no more than the lower triangle
		for j, t := range r.x[:i+1] {
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
	columns := len(r.at)
	for i, t := range r.x {
		for j, s := range r.at {
			r.b[i*columns+j] = m.kernel(s, t)
		}
	}
	r.k.forwardAll(r.b, columns)
	for j, s := range r.at {
		mean, known := 0.0, 0.0
		for i, z := range r.z {
			b := r.b[i*columns+j]
			mean += b * z
			known += b * b
		}
		r.mean[j], r.variance[j] = mean, math.Max(0, m.kernel(s, s)-known)
	}
	return logLik, !math.IsNaN(logLik) && !math.IsInf(logLik, 0)
}
