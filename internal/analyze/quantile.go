package analyze

import (
	"math"
	"slices"
)

// quantile returns the q-quantile of sorted data, with linear interpolation between the order
// statistics (R's type 7); NaN if there are none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// median sorts x and returns its median.
func median(x []float64) float64 {
	slices.Sort(x)
	return quantile(x, 0.5)
}

// spread returns the median absolute deviation from zero, scaled so that it estimates the standard
// deviation of normal data: 1.4826 is one over the upper quartile of the standard normal
// distribution. Half of the data may be arbitrary outliers.
func spread(residuals []float64) float64 {
	abs := make([]float64, len(residuals))
	for i, x := range residuals {
		abs[i] = math.Abs(x)
	}
	return 1.4826 * median(abs)
}

// weightedMedian returns the value with half of the weight on either side. It sorts the pairs by
// value.
func weightedMedian(pairs []weighted) float64 {
	slices.SortFunc(pairs, func(a, b weighted) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	total := 0.0
	for _, p := range pairs {
		total += p.weight
	}
	sum := 0.0
	for _, p := range pairs {
		if sum += p.weight; 2*sum >= total {
			return p.value
		}
	}
	return 0
}

type weighted struct{ value, weight float64 }
