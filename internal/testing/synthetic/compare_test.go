package synthetic

import (
	"math"
	"strings"
	"testing"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// outcome is a run of one window with one point and its visits.
func outcome(length int64, visits ...simulate.Visit) simulate.Outcome {
	return simulate.Outcome{Windows: []simulate.WindowOutcome{{Length: length, Visits: [][]simulate.Visit{visits}}}}
}

// even makes n visits, recorded every ns and done every per.
func even(n int, ns, per, latency int64) []simulate.Visit {
	var all []simulate.Visit
	for i := 1; i <= n; i++ {
		all = append(all, simulate.Visit{Time: int64(i) * per, Recorded: int64(i) * ns, Latency: latency})
	}
	return all
}

func compareOne(t *testing.T, same, changed, truth []simulate.Visit) Comparison {
	t.Helper()
	all := Compare(outcome(1000, same...), outcome(1000, changed...),
		Truth{Same: outcome(1000, even(100, 10, 10, 8)...), Changed: outcome(1000, truth...)})
	if len(all) != 1 {
		t.Fatalf("%d comparisons", len(all))
	}
	return all[0]
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestCompareRight(t *testing.T) {
	c := compareOne(t, even(100, 10, 10, 8), even(100, 10, 5, 2), even(100, 5, 5, 2))
	if !near(c.Estimated, 50) || !near(c.Truth, 50) || !near(c.Base, 0) || c.Error() > 1e-6 {
		t.Errorf("%+v", c)
	}
	if !c.HasLatency || !near(c.EstimatedLatency, 75) || c.LatencyError() > 1e-6 {
		t.Errorf("%+v", c)
	}
}

func TestCompareWrong(t *testing.T) {
	c := compareOne(t, even(100, 10, 12, 8), even(100, 10, 6, 4), even(100, 8, 8, 6))
	if !near(c.Estimated, 50) || !near(c.Truth, 20) || !near(c.Base, 20) || !near(c.Error(), 30) {
		t.Errorf("%+v", c)
	}
	if !near(c.LatencyError(), 25) {
		t.Errorf("%+v", c)
	}
}

// TestCompareEnd has two threads; one of them is twice as fast and has nothing recorded left at half the time. From
// then on the simulated run has too few visits. They must not count.
func TestCompareEnd(t *testing.T) {
	var same, changed, real []simulate.Visit
	for i := int64(1); i <= 50; i++ {
		both := simulate.Visit{Time: 20 * i, Recorded: 20 * i}
		same = append(same, both, both)
	}
	for at := int64(10); at <= 1000; at += 10 {
		if at <= 500 { // the faster one
			changed = append(changed, simulate.Visit{Time: at, Recorded: 2 * at})
		}
		if at%20 == 0 {
			changed = append(changed, simulate.Visit{Time: at, Recorded: at})
			real = append(real, simulate.Visit{Time: at})
		}
		real = append(real, simulate.Visit{Time: at})
	}
	all := Compare(outcome(1000, same...), outcome(1000, changed...),
		Truth{Same: outcome(1000, same...), Changed: outcome(670, real...)})
	if c := all[0]; math.Abs(c.Truth-33.3) > 2 || c.Error() > 1 {
		t.Errorf("%v", c)
	}
}

func TestCompareMissing(t *testing.T) {
	right := even(100, 10, 5, 8)
	for what, changed := range map[string][]simulate.Visit{"stopped early": right[:50], "no visit": nil} {
		c := compareOne(t, even(100, 10, 10, 8), changed, even(100, 5, 5, 8))
		if !c.Missing || c.Error() < 50 || !strings.Contains(c.String(), "stopped") {
			t.Errorf("%s: %v", what, c)
		}
	}
	if c := compareOne(t, right[:50], right, right); !c.Missing {
		t.Errorf("the unchanged run stopped: %v", c)
	}
}

// perfect is a machine that gives the truth.
type perfect struct{ p *Program }

func (f perfect) Run(c Change) simulate.Outcome { return recordedTimes(f.p, f.p.Truth(c).Changed) }

// recordedTimes fills in when each visit was recorded, as far as its number tells.
func recordedTimes(p *Program, o simulate.Outcome) simulate.Outcome {
	for i := range o.Windows {
		for point, visits := range o.Windows[i].Visits {
			same := p.same[i].Visits[point]
			visits = visits[:min(len(visits), len(same))]
			for k := range visits {
				visits[k].Recorded = same[k].Time
			}
			o.Windows[i].Visits[point] = visits
		}
	}
	return o
}

// TestCompareTruth checks that a right machine has no error, in programs of all families.
func TestCompareTruth(t *testing.T) {
	eachFamily(t, min(seeds(), 10), func(t *testing.T, p *Program) {
		m := perfect{p}
		c := p.Changes(1)[0]
		all := Compare(m.Run(Change{}), m.Run(c), p.Truth(c))
		if len(all) == 0 {
			t.Error("nothing was compared")
		}
		for _, comparison := range all {
			if comparison.Error() > 1e-6 || comparison.HasLatency && comparison.LatencyError() > 1e-6 || comparison.Base != 0 {
				t.Errorf("%v: %v", c, comparison)
			}
		}
	})
}

func TestAsked(t *testing.T) {
	p := RandomOf("sleep", 3)
	r := p.Record()
	asked := p.Asked(r, Change{Kinds: []float64{0, 0.5}, Sleeps: 0.25, Cores: 3})
	if asked.Cores != 3 || len(asked.Faster) != 2 || asked.Faster[0].By != 0.5 || asked.Faster[1].By != 0.25 {
		t.Fatalf("%+v", asked)
	}
	for i, s := range r.Stacks {
		if want := r.Frames[s[0]].Function == kindName(1); asked.Faster[0].Unit.Stacks[i] != want {
			t.Errorf("stack %d, %+v: %t", i, r.Frames[s[0]], !want)
		}
	}
	classes := asked.Faster[1].Unit.Classes
	if !classes[recording.Sleep] || classes[recording.Disk] || len(asked.Faster[1].Unit.Places) != len(r.Places) {
		t.Errorf("%+v", asked.Faster[1].Unit)
	}
}
