package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLevels: interpolated levels are as good as simulated ones, at a fraction of the cost, for curves of many forms.
func TestLevels(t *testing.T) {
	type family struct {
		name string
		draw func(r *rand.Rand) func(s float64) float64
		runs float64 // at most, on average
		sd   float64
	}
	for _, f := range []family{
		{"straight", func(r *rand.Rand) func(float64) float64 {
			k := 0.8 * r.Float64()
			return func(s float64) float64 { return k * s }
		}, 2, 0.01},
		{"nothing", func(*rand.Rand) func(float64) float64 { return func(float64) float64 { return 0 } }, 2, 0.01},
		{"plateau", func(r *rand.Rand) func(float64) float64 {
			k, at := 0.2+0.7*r.Float64(), r.Float64()
			return func(s float64) float64 { return k * min(s, at) }
		}, 9, 0.01},
		{"peak", func(r *rand.Rand) func(float64) float64 {
			k, at := 0.2+0.7*r.Float64(), r.Float64()
			return func(s float64) float64 { return k * (min(s, at) - max(0, s-at)) }
		}, 9, 0.01},
		{"queue", func(r *rand.Rand) func(float64) float64 { // latency falls as waiting for the server does
			busy := 0.5 + 0.45*r.Float64()
			return func(s float64) float64 { return 1 - (1-s)*(1-busy)/(1-busy*(1-s)) }
		}, 14, 0.02},
		{"sudden", func(r *rand.Rand) func(float64) float64 {
			k, at := 0.3*r.Float64(), r.Float64()
			return func(s float64) float64 {
				if s > at {
					return -k
				}
				return k * s
			}
		}, 12, 0.01},
	} {
		runs, worst, off, uncovered, n := 0, 0.0, 0.0, 0, 0
		const programs = 200
		for i := range programs {
			truth := f.draw(random(uint64(i)))
			c := newCurves(func(percent int) []measured {
				runs++
				return []measured{{gain: truth(float64(percent) / 100), sd: f.sd, df: 15}}
			}, false)
			all := c.every(0)
			if len(all) != 100/step+1 {
				t.Fatalf("%d levels", len(all))
			}
			for j, m := range all {
				x := math.Abs(m.gain - truth(float64(j*step)/100))
				worst, off, n = max(worst, x), off+x, n+1
				if x > m.slack+0.005 {
					uncovered++
				}
			}
		}
		average := float64(runs) / programs
		t.Logf("%-8s %.1f runs for 20 levels; interpolated ones are off by %.2f points on average, %.1f at most; %.1f%% by "+
			"more than the interval knows", f.name, average, 100*off/float64(n), 100*worst, 100*float64(uncovered)/float64(n))
		if average > f.runs || off/float64(n) > 0.002 || float64(uncovered) > 0.02*float64(n) {
			t.Errorf("%s: too many runs, or too far off", f.name)
		}
	}
}

// TestSmallUnit: a unit that hardly matters is simulated once.
func TestSmallUnit(t *testing.T) {
	runs := 0
	c := newCurves(func(percent int) []measured {
		runs++
		return []measured{{gain: 0.008 * float64(percent) / 100, df: 15}}
	}, true)
	if all := c.every(0); runs != 1 || math.Abs(all[10].gain-0.004) > 1e-9 || all[10].slack == 0 || all[0].gain != 0 {
		t.Errorf("%d runs, half of it: %+v", runs, all[10])
	}
}
