package estimate

import (
	"maps"
	"math"
	"slices"
	"testing"

	"whatif/internal/testing/synthetic"
)

// togetherCases are programs with two kinds of code. accuracy/together asks about such programs on the real kernel.
func togetherCases() map[string]func(*synthetic.Machine) {
	return map[string]func(*synthetic.Machine){
		"barrier": meet(computes(0, 3000), computes(1, 2000)),
		"network": meet(computes(0, 3000), after(computes(1, 200), asks(2000))),
		"crowd":   crowded,
		"pipeline": func(m *synthetic.Machine) {
			point, queue := m.Point("item", false), m.Queue(8, false, false)
			m.Thread("first", synthetic.How{}, func(t *synthetic.Task) {
				for job := uint64(0); ; job++ {
					t.Compute(0, uniform(2000))
					t.Put(queue, job)
				}
			})
			m.Thread("second", synthetic.How{}, func(t *synthetic.Task) {
				for {
					t.Take(queue)
					t.Compute(1, uniform(1200))
					t.Visit(point)
				}
			})
		},
		"lock": func(m *synthetic.Machine) {
			point, x := m.Point("turn", false), m.Mutex(false)
			for i := range 4 {
				m.Thread(string(rune('a'+i)), synthetic.How{}, func(t *synthetic.Task) {
					for {
						t.Compute(1, uniform(600))
						t.Lock(x)
						t.Compute(0, uniform(1000))
						t.Unlock(x)
						t.Visit(point)
					}
				})
			}
		},
		"sleep": meet(after(computes(0, 2500), computes(1, 500)), sleeps(2000)),
	}
}

// mostCoresOff is how far an answer about one core in place of two may be off, in points. Where a thread sleeps and
// finds the only core busy, it depends on the scheduler when it gets the core: this synthetic one gives sleepers
// credit, as the kernel did before EEVDF, and the simulated one is EEVDF.
func mostCoresOff(program string) float64 {
	if program == "sleep" || program == "network" {
		return 20
	}
	return 8
}

// TestTogether: two units that are faster at once are within 4 points of the truth, and one core in place of two
// within 8.
func TestTogether(t *testing.T) {
	cases := togetherCases()
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		p := synthetic.Random(uint64(i))
		p.Kinds, p.Windows, p.Build = 2, []synthetic.Span{{Begin: 50e6, End: 1550e6}}, cases[name]
		p.Hardware.Cores, p.Hardware.Period, p.Fixed = 2, 500e3, true
		e, err := Open(p.Record(), Options{Kind: "func", Waiting: DefaultWaiting})
		if err != nil {
			t.Fatal(err)
		}
		if e.Doubt() != "" {
			t.Errorf("%s: refused: %s", name, e.Doubt())
			continue
		}
		var units [2]Unit
		for kind, spec := range []string{"func:parse", "func:transform"} {
			if units[kind], err = e.Find(spec); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			by    [2]float64 // percent
			cores int
			most  float64 // points
		}{
			{[2]float64{50, 50}, 0, 4}, {[2]float64{25, 75}, 0, 4}, {[2]float64{75, 25}, 0, 4},
			{cores: 1, most: mostCoresOff(name)},
		} {
			q := Question{Cores: c.cores}
			change := synthetic.Change{Cores: c.cores, Kinds: []float64{c.by[0] / 100, c.by[1] / 100}}
			for kind, by := range c.by {
				if by > 0 {
					q.Faster = append(q.Faster, Faster{units[kind], by})
				}
			}
			truth, ok := trueGain(e, 0, p.Truth(change))
			if !ok {
				t.Fatalf("%s: no truth", name)
			}
			a := e.Ask(q)[0]
			t.Logf("%-8s %v, %d cores: truth %.1f, answer %.1f (%.1f to %.1f) %s", name, c.by, c.cores, truth, a.Gain.Value,
				a.Gain.Low, a.Gain.High, a.Refused)
			if !(math.Abs(a.Gain.Value-truth) <= c.most) {
				t.Errorf("%s, by %v, %d cores: %.1f, the truth is %.1f", name, c.by, c.cores, a.Gain.Value, truth)
			}
		}
	}
}
