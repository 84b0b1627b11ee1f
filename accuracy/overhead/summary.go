package main

import (
	"math"
	"slices"
)

// summary is a median with the spread of it.
type summary struct {
	n         int
	median    float64
	low, high float64
	// level is the confidence, 0 to 1, with which low to high contains the true median.
	level float64
}

// summarize gives the median and the narrowest interval between two order statistics, as far from the top as from
// the bottom, that contains the true median with a probability of at least 95%; below six values there is
// none, and all of their range is given with the probability that it has. The method assumes nothing of
// the distribution but that the values are independent draws of one (the binomial: each is below the true
// median with probability 1/2); a machine whose disturbances last for several runs makes it too narrow.
// Source: David and Nagaraja, Order Statistics, section 7.1.
func summarize(values []float64) summary {
	n := len(values)
	if n == 0 {
		return summary{median: math.NaN(), low: math.NaN(), high: math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	// outside is the probability that the true median lies below the k-th lowest value: P(Bin(n, 1/2) < k).
	outside, term, k := math.Pow(0.5, float64(n)), math.Pow(0.5, float64(n)), 1
	for {
		term *= float64(n-k+1) / float64(k)
		if 2*(outside+term) > 0.05 || 2*(k+1) > n {
			break
		}
		outside += term
		k++
	}
	return summary{
		n: n, median: (sorted[(n-1)/2] + sorted[n/2]) / 2,
		low: sorted[k-1], high: sorted[n-k], level: 1 - 2*outside,
	}
}
