package noise

import "math"

// Mean is the mean of some values and half of its 95% interval. The method is Student's t, which
// assumes that the values are independent and their errors nearly normal. With two or three values
// the interval is very wide, as it should be; with one it is infinite.
func Mean(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if len(values) < 2 {
		return mean, math.Inf(1)
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, TQuantile(len(values)-1) * math.Sqrt(squares/(n-1)/n)
}

// TQuantile is the 0.975 quantile of Student's t distribution with df degrees of freedom (standard
// table; from 11 on 1.96 + 2.4/df + 2.9/df², which is within 0.002 of it).
func TQuantile(df int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if df <= len(table) {
		return table[df-1]
	}
	d := float64(df)
	return 1.96 + 2.4/d + 2.9/(d*d)
}
