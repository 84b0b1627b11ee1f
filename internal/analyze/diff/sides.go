package diff

import (
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// A side is one of the two profiles, and its result.
type side struct {
	result *analyze.Result
	runs   []*profile.Data
	ids    map[profile.UnitKey][][]uint32 // the ids of each unit, by run
	costs  map[string]*costs              // by point
}

type sides struct{ old, new side }

func newSide(r *analyze.Result, runs []*profile.Data) side {
	s := side{r, runs, map[profile.UnitKey][][]uint32{}, map[string]*costs{}}
	for i, d := range runs {
		for id, u := range d.Units {
			k := u.Key()
			if s.ids[k] == nil {
				s.ids[k] = make([][]uint32, len(runs))
			}
			s.ids[k][i] = append(s.ids[k][i], id)
		}
	}
	return s
}

// pointNamed is the index of a point in r.Points, or -1.
func pointNamed(r *analyze.Result, name string) int {
	return slices.IndexFunc(r.Points, func(p analyze.Point) bool { return p.Name == name })
}

// gather collects one part of each usable baseline, by run.
func (s *side) gather(of func(run int, e *profile.Experiment) (part, bool)) [][]part {
	all := make([][]part, len(s.runs))
	s.result.EachBaseline(func(run int, e *profile.Experiment) {
		if p, ok := of(run, e); ok {
			all[run] = append(all[run], p)
		}
	})
	return all
}

// visits is the time and the visits of point k in the baselines, by run.
func (s *side) visits(k int) [][]part {
	return s.gather(func(run int, e *profile.Experiment) (part, bool) {
		visits, ns, ok := s.result.Window(run, e, k)
		return part{ns, visits}, ok
	})
}

// residence is the time that requests spent in the system and how many arrived, by run. The quotient
// is the mean latency by Little's law, as in package analyze.
func (s *side) residence(l *analyze.Latency) [][]part {
	return s.gather(func(run int, e *profile.Experiment) (part, bool) {
		ns, requests, ok := s.result.Residence(run, e, l)
		return part{ns, requests}, ok
	})
}

// cpuTime is the CPU time of some samples and the visits of point k, by run.
func (s *side) cpuTime(k int, samples func(run int, e *profile.Experiment) int64) [][]part {
	return s.gather(func(run int, e *profile.Experiment) (part, bool) {
		period := s.runs[run].Run.PeriodNS
		if _, _, ok := s.result.Window(run, e, k); !ok || period <= 0 {
			return part{}, false
		}
		visits := s.result.Visits(run, e, k).Count
		return part{float64(samples(run, e)) * float64(period), float64(visits)}, true
	})
}

// costs are the CPU times in the baselines in which one point was measured. They are gathered once, as a comparison
// asks for each of thousands of units.
type costs struct {
	visits [][]part               // by run; the times are 0
	units  []map[uint32][]sampled // run, unit id → the baselines in which the unit has samples
	times  [][]part               // working memory of cost
	// sample is what one single sample in all baselines would come to per visit; 0 if nothing was sampled or visited.
	sample float64
}

// sampled is the number of a unit's samples in one baseline, given by its index.
type sampled struct {
	baseline int
	samples  int64
}

// costsAt gathers the costs at a point.
func (s *side) costsAt(point string) *costs {
	if c := s.costs[point]; c != nil {
		return c
	}
	c := &costs{units: make([]map[uint32][]sampled, len(s.runs)), times: make([][]part, len(s.runs))}
	for run := range c.units {
		c.units[run] = make(map[uint32][]sampled)
	}
	baselines := make([]int, len(s.runs))
	c.visits = s.cpuTime(pointNamed(s.result, point), func(run int, e *profile.Experiment) int64 {
		for id, n := range e.UnitSamples {
			c.units[run][id] = append(c.units[run][id], sampled{baselines[run], n})
		}
		baselines[run]++
		return e.Samples
	})
	var time, visits, period float64
	for run, parts := range c.visits {
		period = max(period, float64(s.runs[run].Run.PeriodNS))
		for i := range parts {
			time += parts[i].num
			visits += parts[i].den
			parts[i].num = 0
		}
	}
	if time > 0 && visits > 0 {
		c.sample = period / visits
	}
	s.costs[point] = c
	return c
}

// cost is the CPU time per visit that some units take together.
func (s *side) cost(point string, units []*analyze.Target) (sumRatio, bool) {
	c := s.costsAt(point)
	for run, visits := range c.visits {
		c.times[run] = append(c.times[run][:0], visits...)
	}
	for _, t := range units {
		for run, ids := range s.ids[t.Unit.Key()] {
			for _, id := range ids {
				for _, in := range c.units[run][id] {
					c.times[run][in.baseline].num += float64(in.samples) * float64(s.runs[run].Run.PeriodNS)
				}
			}
		}
	}
	return newSumRatio(c.times)
}

// costOfSample is what one single sample in all baselines would come to per visit. ok is false if
// nothing was sampled or visited.
func (s *side) costOfSample(point string) (ns float64, ok bool) {
	c := s.costsAt(point)
	return c.sample, c.sample > 0
}
