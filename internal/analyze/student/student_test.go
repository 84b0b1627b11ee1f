package student

import (
	"math"
	"testing"
)

// Values of R's qt(1-alpha/2, df).
func TestQuantile(t *testing.T) {
	for _, c := range []struct{ alpha, df, want float64 }{
		{0.05, 1, 12.7062}, {0.05, 2, 4.3027}, {0.05, 3, 3.1824}, {0.05, 4, 2.7764}, {0.05, 5, 2.5706},
		{0.05, 10, 2.2281}, {0.05, 30, 2.0423}, {0.05, 1e9, 1.9600}, {0.01, 4, 4.6041}, {0.0025, 6, 4.9807},
		{0.05, 4.5, 2.6585}, {0.05, math.Inf(1), 1.9600}, {0.05, 0, 12.7062}, {0.05, math.NaN(), 12.7062},
	} {
		if got := Quantile(c.alpha, c.df); math.Abs(got-c.want) > 2e-3*c.want {
			t.Errorf("Quantile(%v, %v) = %.4f, want %.4f", c.alpha, c.df, got, c.want)
		}
	}
}
