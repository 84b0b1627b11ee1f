package analyze

import (
	"math"
	"testing"
)

// A round takes 1 ms here. There it takes 0.8 ms of virtual time, each of which is 2.5 there: 2 ms.
func TestMovesTo(t *testing.T) {
	result := func(rate float64) *Result {
		return &Result{Baselines: 25, Points: []Point{{Name: "request", Kind: "func", Rate: rate, Noise: 5}},
			Latencies: []Latency{{Mean: 100, Quantiles: []float64{80, 200, 300}}}}
	}
	here, there := result(1000), result(1250)
	moves := here.MovesTo(there, 2.5)
	if len(moves) != 1 || moves[0].Point != "request" || math.Abs(moves[0].Gain.Value+100) > 1e-9 {
		t.Fatalf("%+v, want twice the time", moves)
	}
	// 1% of noise on either side, and the method's error of a gain of 20%.
	half := 2.5 * 1.96 * math.Hypot(0.8*math.Sqrt2, 100*methodError(1, 0.2))
	if g := moves[0].Gain; math.Abs(g.High-g.Value-half) > 1e-9 || math.Abs(g.Value-g.Low-half) > 1e-9 {
		t.Errorf("%+v, want +-%v", g, half)
	}
	there.Stretch(2.5)
	if there.Points[0].Rate != 500 || there.Latencies[0].Mean != 250 || there.Latencies[0].Quantiles[1] != 500 {
		t.Errorf("%+v, %+v", there.Points, there.Latencies)
	}
	there.Baselines = fewBaselines - 1
	if here.MovesTo(there, 2.5) != nil {
		t.Error("too few baselines there tell something")
	}
}
