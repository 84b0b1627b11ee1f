package estimate

import (
	"math"
	"slices"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/analyze/student"
	"whatif/internal/simulate"
)

// TestCoverage: intervals of 95% hold what a change really brings in 90 to 99% of many recordings of a program whose
// truth is known. The engine is perfect here, so what is tested is the bootstrap.
func TestCoverage(t *testing.T) {
	recordings := 500
	if testing.Short() {
		recordings = 150
	}
	const by = 0.5
	truth := truths(by)
	for _, c := range []struct {
		name    string
		visits  int
		windows int
	}{{"many visits", 1500, 1}, {"few visits", 100, 1}, {"in windows", 1500, 30}} {
		held, of := map[analyze.Metric]int{}, map[analyze.Metric]int{}
		width := map[analyze.Metric]float64{}
		for i := range recordings {
			p := newProgram(random(uint64(i)), c.visits)
			p.windows = c.windows
			base := pointBase{}
			n := base.cut(p.outcome(0, 1), 0)
			for m, truth := range truth {
				mb := metricBase{metric: m, quantile: quantileOf(m)}
				mb.base = base.sums(&mb, p.outcome(0, 1), 0, base.requests(p.outcome(0, 1), 0))
				if base.refuse(&mb, n) != "" {
					continue
				}
				mb.drawn = base.drawn.values(&mb.base, mb.quantile)
				base.metrics = []metricBase{mb}
				g := base.compare(p.outcome(by, 1), 0)[0]
				half := g.sd * student.Quantile(analyze.Alpha, g.df)
				of[m]++
				width[m] += 100 * half
				if math.Abs(g.gain-truth) <= half {
					held[m]++
				}
			}
		}
		for _, m := range []analyze.Metric{analyze.Throughput, analyze.MeanLatency, analyze.P50, analyze.P95, analyze.P99} {
			if of[m] == 0 {
				continue
			}
			percent := 100 * float64(held[m]) / float64(of[m])
			t.Logf("%-12s %-10s truth %5.1f: %5.1f%% of %d intervals hold it, ±%.1f on average",
				c.name, m, 100*truth[m], percent, of[m], width[m]/float64(of[m]))
			if percent < 90 || percent > 99 {
				t.Errorf("%s, %s: %.1f%% of the intervals hold the truth", c.name, m, percent)
			}
		}
	}
}

func quantileOf(m analyze.Metric) float64 {
	for _, q := range analyze.Quantiles {
		if q.Metric == m {
			return q.Quantile
		}
	}
	return 0
}

// truths are the gains of a change over a very long time.
func truths(by float64) map[analyze.Metric]float64 {
	p := newProgram(random(1<<40), 400_000)
	sorted := func(by float64) (latencies []float64) {
		for _, v := range p.outcome(by, 1).Windows[0].Visits[0] {
			latencies = append(latencies, float64(v.Latency))
		}
		slices.Sort(latencies)
		return latencies
	}
	was, is := sorted(0), sorted(by)
	truth := map[analyze.Metric]float64{analyze.Throughput: p.gain(by), analyze.MeanLatency: by * 2 / 5}
	for _, q := range analyze.Quantiles {
		at := int(q.Quantile * float64(len(was)))
		truth[q.Metric] = 1 - is[at]/was[at]
	}
	return truth
}

// TestPairing: what is the same in a stretch with and without the change does not widen the interval. A program whose
// visits scatter by half, all of whose time is in the unit, gains exactly its speed-up.
func TestPairing(t *testing.T) {
	p := newProgram(random(1), 400)
	for i := range p.rest {
		p.rest[i], p.restOf[i] = 0, 0
	}
	e := newEstimator(p.record(), p, "", Options{})
	all, _ := e.measure(changeOf(e, 0.3))
	for i, m := range all {
		if e.points[0].metrics[i].refused == "" && (m.gain < 0.299 || m.gain > 0.301 || m.sd > 0.001) {
			t.Errorf("a gain of %.4f ± %.4f, want exactly 0.3", m.gain, m.sd)
		}
	}
}

// changeOf speeds up the first unit.
func changeOf(e *Estimator, by float64) simulate.Change {
	u := e.named(target("a.c:1"))
	return simulate.Change{Faster: []simulate.Faster{{Unit: u.sim, By: by}}}
}
