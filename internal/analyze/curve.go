package analyze

import "math"

// A curve is the gain as a function of the speed-up, estimated from all levels
// together: with 20 speed-ups and a few dozen experiments a level has hardly two,
// but its neighbours know nearly as much about it.
//
// The method is Gaussian-process regression, the Bayesian form of the cubic
// smoothing spline (Wahba, J. R. Stat. Soc. B 40, 1978): the gain is a straight
// line through the origin, of which nothing is known beforehand, plus a process
// whose slope wanders as Brownian motion does. How much it wanders is tau; the
// data weigh the taus of a grid by their likelihood, and the result is the
// mixture. With one tau for all, either straight curves would get needlessly wide
// intervals or bent ones wrong ones. Wahba's intervals cover on the average over
// the curve, not at each point of it: at a sharp bend they cover somewhat less
// (measured: see TestCoverage).
type curve struct {
	at         []float64
	mean, sd   []float64
	smoothness float64 // mean tau, for tests
}

// taus: the standard deviation of the slope's change from one end of the curve
// to the other. 0 is a straight line; 0.3 a bend that is hard to see; a line that
// rises at slope 1 and then turns flat has about 1, one that falls again 2 or more.
var taus = []float64{0, 0.3, 1, 3}

// slopePrior is the standard deviation of the slope beforehand: so wide that it
// says nothing.
const slopePrior = 5

// newCurve estimates gains at the given speed-ups (as fractions) from gains y
// with covariance cov at speed-ups x. ok is false if the numbers do not allow it.
func newCurve(x, y []float64, cov matrix, at []float64) (c curve, ok bool) {
	c = curve{at: at, mean: make([]float64, len(at)), sd: make([]float64, len(at))}
	best := math.Inf(-1)
	var weights []float64
	var means, vars [][]float64
	for _, tau := range taus {
		mean, variance, logLik, ok := posterior(x, y, cov, at, tau)
		if !ok {
			continue
		}
		weights = append(weights, logLik)
		means = append(means, mean)
		vars = append(vars, variance)
		best = math.Max(best, logLik)
	}
	if len(weights) == 0 {
		return c, false
	}
	total := 0.0
	for i := range weights {
		weights[i] = math.Exp(weights[i] - best)
		total += weights[i]
	}
	for j := range at {
		var m, second float64
		for i, w := range weights {
			m += w / total * means[i][j]
			second += w / total * (vars[i][j] + means[i][j]*means[i][j])
		}
		c.mean[j] = m
		c.sd[j] = math.Sqrt(math.Max(0, second-m*m))
	}
	return c, true
}

// kernel is the prior covariance of the gains at speed-ups s and t: the line's,
// and that of integrated Brownian motion.
func kernel(s, t, tau float64) float64 {
	lo, hi := min(s, t), max(s, t)
	return slopePrior*slopePrior*s*t + tau*tau*lo*lo*(3*hi-lo)/6
}

// posterior is the regression for one tau.
func posterior(x, y []float64, cov matrix, at []float64, tau float64) (mean, variance []float64, logLik float64, ok bool) {
	n := len(x)
	k := newMatrix(n)
	copy(k.a, cov.a)
	for i := range x {
		for j := range x {
			k.add(i, j, kernel(x[i], x[j], tau))
		}
		k.add(i, i, leastVariance)
	}
	logDet, ok := k.cholesky()
	if !ok {
		return nil, nil, 0, false
	}
	z := append([]float64(nil), y...)
	k.forward(z)
	logLik = -0.5 * (dot(z, z) + logDet)
	mean, variance = make([]float64, len(at)), make([]float64, len(at))
	b := make([]float64, n)
	for j, s := range at {
		for i := range x {
			b[i] = kernel(x[i], s, tau)
		}
		k.forward(b)
		mean[j] = dot(b, z)
		variance[j] = math.Max(0, kernel(s, s, tau)-dot(b, b))
	}
	return mean, variance, logLik, !math.IsNaN(logLik)
}
