// Package student has the quantiles and tails of Student's t distribution and of the normal
// distribution, for two-sided intervals: alpha is the probability of lying outside ±t.
//
// An interval is the estimate plus and minus Quantile(alpha, df) standard errors; Tail is the way
// back, from a deviation to its probability.
package student

import "math"

// Quantile returns the t for which a Student-distributed variable with df degrees of freedom lies
// outside ±t with probability alpha. df need not be whole. Below 1, or if it is NaN, df counts as 1.
//
// The method is Hill's asymptotic expansion (Algorithm 396, CACM 13, 1970). Its error is below 1e-3
// for df ≥ 1, and far below for the values used in this repository.
func Quantile(alpha, df float64) float64 {
	switch {
	case !(df >= 1): // also NaN
		df = 1
	case df > 1e6:
		return Normal(alpha)
	}
	if df == 1 {
		s, c := math.Sincos(alpha * math.Pi / 2)
		return c / s
	}
	if df == 2 {
		return math.Sqrt(2/(alpha*(2-alpha)) - 2)
	}
	a := 1 / (df - 0.5)
	b := 48 / (a * a)
	c := ((20700*a/b-98)*a-16)*a + 96.36
	d := ((94.5/(b+c)-3)/b + 1) * math.Sqrt(a*math.Pi/2) * df
	y := math.Pow(d*alpha, 2/df)
	if y > 0.05+a {
		x := -Normal(alpha)
		y = x * x
		if df < 5 {
			c += 0.3 * (df - 4.5) * (x + 0.6)
		}
		c += (((0.05*d*x-5)*x-7)*x-2)*x + b
		y = (((((0.4*y+6.3)*y+36)*y+94.5)/c-y-3)/b + 1) * x
		y = math.Expm1(a * y * y)
	} else {
		y = ((1/(((df+6)/(df*y)-0.089*d-0.822)*(df+2)*3)+0.5/(df+4))*y-1)*(df+1)/(df+2) + 1/y
	}
	return math.Sqrt(df * y)
}

// Normal is Quantile for infinitely many degrees of freedom: the normal distribution.
func Normal(alpha float64) float64 { return math.Sqrt2 * math.Erfinv(1-alpha) }

// Tail returns the probability that a Student-distributed variable with df degrees of freedom lies
// outside ±t. It inverts Quantile by bisection (TailOf).
func Tail(t, df float64) float64 {
	return TailOf(func(alpha float64) bool { return Quantile(alpha, df) < t })
}

// leastTail is the smallest probability that TailOf returns. No decision depends on a smaller one.
const leastTail = 1e-12

// TailOf returns the smallest probability alpha for which below(alpha) is true, by bisection of its
// logarithm. below must be true for all larger alpha too.
func TailOf(below func(alpha float64) bool) float64 {
	low, high := math.Log(leastTail), 0.0
	for range 40 {
		if mid := (low + high) / 2; below(math.Exp(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(high)
}
