package spread

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOf(t *testing.T) {
	nine := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}
	for _, test := range []struct {
		values []float64
		want   Summary
	}{
		{[]float64{3}, Summary{1, 3, 3, 3, 0}},
		{[]float64{1, 2}, Summary{2, 1.5, 1, 2, 0.5}},
		{[]float64{5, 1, 3}, Summary{3, 3, 1, 5, 0.75}},
		// 1 - 2*P(Bin(9, 1/2) <= 1) = 1 - 20/512
		{nine, Summary{9, 5, 2, 8, 1 - 20./512}},
	} {
		if got := Of(test.values); got != test.want {
			t.Errorf("Of(%v) = %+v, want %+v", test.values, got, test.want)
		}
	}
	if s := Of(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("of nothing: %+v", s)
	}
}

// The distribution of the test is asymmetric, and its median is known.
func TestCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	for _, n := range []int{6, 9, 15, 40} {
		hit, level := 0, 0.0
		for range trials {
			values := make([]float64, n)
			for i := range values {
				values[i] = rng.ExpFloat64()
			}
			s := Of(values)
			level = s.Level
			if s.Low <= math.Ln2 && math.Ln2 <= s.High {
				hit++
			}
		}
		if got := float64(hit) / trials; level < 0.95 || math.Abs(got-level) > 0.015 {
			t.Errorf("of %d values: covers %.3f, says %.3f", n, got, level)
		}
	}
}
