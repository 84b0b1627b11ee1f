package analyze

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"whatif/internal/profile"
)

// BenchmarkTypical analyses a run of 20 s with ten units, as the status line does every second.
func BenchmarkTypical(b *testing.B) {
	w := world{pairs: 50, noise: 0.03}
	for range 10 {
		w.units = append(w.units, code{share: 0.1, gain: linear(0.1)})
	}
	d := []*profile.Data{w.run(1)}
	b.ReportAllocs()
	for b.Loop() {
		Analyze(d, Options{})
	}
}

// BenchmarkLarge analyses 100,000 experiments over 5,000 units, each with samples in 30.
func BenchmarkLarge(b *testing.B) { benchmarkLarge(b, 1000) }

// BenchmarkLargeRare is the same with a point that is hardly ever visited: every experiment is
// compared with hundreds of baselines.
func BenchmarkLargeRare(b *testing.B) { benchmarkLarge(b, 0.05) }

func benchmarkLarge(b *testing.B, rate float64) {
	d := []*profile.Data{large(50_000, 5_000, rate)}
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		Analyze(d, Options{})
	}
}

func large(pairs, units int, rate float64) *profile.Data {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := machine{world: &world{}, rnd: rnd}
	d := &profile.Data{Units: map[uint32]profile.Unit{}, Run: profile.Run{Version: 1, CPUs: 2, PeriodNS: period,
		Points: []profile.Point{{Name: "p"}}}}
	for i := range units {
		id := uint32(i + 1)
		d.Units[id] = profile.Unit{ID: id, Kind: "line", Name: fmt.Sprintf("a.c:%d", id), File: "a.c", Line: i + 1}
	}
	for i := range 2 * pairs {
		e := profile.Experiment{Index: i, Pair: i/2 + 1, RealNS: 200e6, Samples: 400, UnitSamples: map[uint32]int64{}}
		visits := m.poisson(rate * 0.2)
		if i%2 == 1 {
			e.Unit = uint32(rnd.IntN(units) + 1)
			e.Speedup = 5 + 5*rnd.IntN(20)
			e.DelayNS = int64(e.Speedup) * 100_000
		}
		for range 30 {
			e.UnitSamples[uint32(rnd.IntN(units)+1)] = 3
		}
		e.Points = []profile.Visits{{Count: int64(visits), Weight: visits, WindowNS: float64(e.RealNS - e.DelayNS)}}
		d.Experiments = append(d.Experiments, e)
	}
	return d
}
