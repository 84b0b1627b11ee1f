package diff

import (
	"fmt"
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// comparePoints compares the points that both sides have. The end of a latency is compared by its
// mean latency.
func (c *Comparison) comparePoints(s sides) {
	ends := map[string]bool{}
	for i := range c.Old.Latencies {
		l := &c.Old.Latencies[i]
		ends[c.Old.Points[l.Begin].Name] = true
		j := slices.IndexFunc(c.New.Latencies, func(m analyze.Latency) bool { return m.Name == l.Name })
		if j < 0 {
			continue
		}
		m := &c.New.Latencies[j]
		p := PointChange{Name: l.Name, Metric: analyze.MeanLatency, Old: l.Mean, New: m.Mean}
		c.addPoint(p, s.old.residence(l), s.new.residence(m))
	}
	for k, p := range c.Old.Points {
		j := pointNamed(c.New, p.Name)
		if j < 0 || ends[p.Name] {
			continue
		}
		change := PointChange{Name: p.Name, Metric: analyze.Throughput, Old: p.Rate, New: c.New.Points[j].Rate}
		c.addPoint(change, s.old.visits(k), s.new.visits(j))
	}
}

func (c *Comparison) addPoint(p PointChange, old, new [][]part) {
	a, aOK := newSumRatio(old)
	b, bOK := newSumRatio(new)
	if aOK && bOK {
		p.change = changeOf(a, b)
		p.Gain, p.BetweenRuns = p.change.gain(analyze.Alpha), p.change.between
	}
	c.Points = append(c.Points, p)
}

// compareRest compares the CPU time per visit of all code that is not known to have changed itself.
func (c *Comparison) compareRest(s sides) {
	for p := range c.Points {
		if first := c.firstOf(p); first != p {
			c.Points[p].Rest = c.Points[first].Rest
			continue
		}
		goneKeys, cameKeys := c.changedUnits(p)
		old, oldOK := s.old.costWithout(c.Points[p].Name, goneKeys)
		new, newOK := s.new.costWithout(c.Points[p].Name, cameKeys)
		if oldOK && newOK {
			c.Points[p].Rest = changeOf(old, new).gain(analyze.Alpha)
		}
	}
}

// changedUnits are the units of each side with a certain change of the CPU time per visit of point
// p.
func (c *Comparison) changedUnits(p int) (gone, came map[profile.UnitKey]bool) {
	gone, came = map[profile.UnitKey]bool{}, map[profile.UnitKey]bool{}
	for _, u := range c.Units {
		for _, k := range u.Predictions {
			if k.Point != p || !k.Faster && !k.Slower {
				continue
			}
			for _, t := range u.by.gone {
				gone[t.Unit.Key()] = true
			}
			for _, t := range u.by.came {
				came[t.Unit.Key()] = true
			}
		}
	}
	return gone, came
}

// costWithout is the CPU time per visit of all code but some units.
func (s *side) costWithout(point string, units map[profile.UnitKey]bool) (sumRatio, bool) {
	return newSumRatio(s.cpuTime(pointNamed(s.result, point), func(run int, e *profile.Experiment) int64 {
		n := e.Samples
		for id, count := range e.UnitSamples {
			if units[s.runs[run].Units[id].Key()] {
				n -= count
			}
		}
		return max(0, n)
	}))
}

// restMatters is by how many percent the rest of the program may change before a warning says so.
const restMatters = 3

func (c *Comparison) addWarnings() {
	if len(c.Points) == 0 {
		c.Warnings.Add("no-common-point", "the profiles have no progress point in common: nothing can be compared")
	}
	if slices.ContainsFunc(c.Points, func(p PointChange) bool { return p.Gain.Known && !p.BetweenRuns }) {
		c.Warnings.Add("one-run", "only one run of each: how runs differ from each other is not known, and not in the "+
			"intervals. Run old and new in alternation, at least twice each")
	}
	for i, p := range c.Points {
		if r := p.Rest; !c.SameVisitsBefore(i) && r.Bounded && (r.Low > restMatters || r.High < -restMatters) {
			what := "less"
			if r.Value < 0 {
				what = "more"
			}
			c.Warnings.Add("rest-changed", "%s: the rest of the program took %.0f%% %s CPU time per visit than before: "+
				"the machine was not equally fast, or other code changed too", p.Name, math.Abs(r.Value), what)
		}
	}
	if a, b := machineOf(c.Old), machineOf(c.New); a != b {
		c.Warnings.Add("other-machine", "the profiles are not from the same machine: %s, and %s", a, b)
	}
}

// machineOf describes the machine of the first run.
func machineOf(r *analyze.Result) string {
	if len(r.Runs) == 0 || r.Runs[0].Run == nil {
		return "none"
	}
	p := r.Runs[0].Run
	return fmt.Sprintf("%s (%d CPUs, %s)", p.Host, p.CPUs, p.Kernel)
}
