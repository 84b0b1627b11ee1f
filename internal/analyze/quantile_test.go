package analyze

import "testing"

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		q    float64
		want float64
	}{
		{[]float64{7}, 0.3, 7}, {[]float64{1, 3}, 0.5, 2}, {[]float64{1, 2, 3, 4, 5}, 0.25, 2}, {[]float64{1, 2}, 1, 2},
	} {
		if got := quantile(c.x, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.x, c.q, got, c.want)
		}
	}
	if got := weightedMedian([]weighted{{5, 1}, {1, 1}, {3, 10}}); got != 3 {
		t.Errorf("weighted median %v, want 3", got)
	}
	if got := weightedMedian(nil); got != 0 {
		t.Errorf("weighted median of nothing is %v", got)
	}
}
