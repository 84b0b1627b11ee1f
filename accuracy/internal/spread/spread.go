// Package spread summarizes a few measurements of one quantity, with Of: their median, and an interval for it.
package spread

import (
	"math"
	"slices"
)

// Summary is a median with an interval.
type Summary struct {
	N         int
	Median    float64
	Low, High float64
	// Level is the confidence, 0 to 1, with which Low to High contains the true median.
	Level float64
}

// Of computes the median and an interval that contains the true median with a probability of at least 95%. It is the
// narrowest interval between two order statistics that are as far from the top as from the bottom. With less than six
// values there is none; then the interval is the whole range, and Level its probability.
//
// The method assumes only that the values are independent draws from one distribution: each is below the true median
// with probability 1/2 (binomial). If disturbances of the machine last for several runs, the interval is too narrow.
// Source: David and Nagaraja, Order Statistics, section 7.1.
func Of(values []float64) Summary {
	n := len(values)
	if n == 0 {
		return Summary{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	// outside is the probability that the true median is below the k-th lowest value: P(Bin(n, 1/2) < k).
	outside, term, k := math.Pow(0.5, float64(n)), math.Pow(0.5, float64(n)), 1
	for {
		term *= float64(n-k+1) / float64(k)
		if 2*(outside+term) > 0.05 || 2*(k+1) > n {
			break
		}
		outside += term
		k++
	}
	return Summary{
		N: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2,
		Low: sorted[k-1], High: sorted[n-k], Level: 1 - 2*outside,
	}
}
