package estimate

import (
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/simulate"
)

// Requests that are nearly as long as the stretches of a recording are mostly cut: a latency would be that of the
// others.
func TestCutRequests(t *testing.T) {
	const window = 200e6
	for _, c := range []struct {
		name     string
		ms       float64 // that each whole request takes
		cut, of  int     // requests of a window whose begin is not in it
		windows  int
		quantile float64
		refused  bool
	}{
		{"short", 2, 1, 100, 10, 0.99, false},
		{"short, mean", 2, 1, 100, 10, 0, false},
		{"long", 70, 35, 100, 10, 0.99, true},
		{"long, mean", 45, 20, 100, 10, 0, true},
		{"long for the mean, not for the median", 45, 22, 100, 10, 0.5, false},
		{"a tail that is never whole", 2, 4, 100, 10, 0.99, true},
		{"the same, for the median", 2, 4, 100, 10, 0.5, false},
		{"ends without a begin for another reason", 2, 50, 100, 1, 0.99, false},
	} {
		o := simulate.Outcome{Windows: make([]simulate.WindowOutcome, c.windows)}
		m := &metricBase{metric: analyze.MeanLatency, quantile: c.quantile}
		b := &pointBase{drawn: newDraws(c.windows)}
		for i := range o.Windows {
			b.pieces = append(b.pieces, 1)
			w := &o.Windows[i]
			w.Length, w.Visits = window, make([][]simulate.Visit, 1)
			for j := range c.of {
				v := simulate.Visit{Latency: int64(c.ms * 1e6)}
				if j < c.cut {
					v.Latency = -1
				}
				w.Visits[0] = append(w.Visits[0], v)
			}
		}
		m.base = b.sums(m, o, 0, b.requests(o, 0))
		why := cutOf(o, 0).refuse(m)
		if (why != "") != c.refused || c.refused && !strings.Contains(why, "stretches of 200 ms") {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}
