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
}

type sides struct{ old, new side }

func newSide(r *analyze.Result, runs []*profile.Data) side {
	s := side{r, runs, map[profile.UnitKey][][]uint32{}}
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

// cost is the CPU time per visit that some units take together.
func (s *side) cost(point string, units []*analyze.Target) (sumRatio, bool) {
	return newSumRatio(s.cpuTime(pointNamed(s.result, point), func(run int, e *profile.Experiment) (n int64) {
		for _, t := range units {
			if by := s.ids[t.Unit.Key()]; by != nil {
				for _, id := range by[run] {
					n += e.UnitSamples[id]
				}
			}
		}
		return n
	}))
}

// costOfSample is what one single sample in all baselines would come to per visit. ok is false if
// nothing was sampled or visited.
func (s *side) costOfSample(point string) (ns float64, ok bool) {
	var visits, period, samples float64
	total := func(_ int, e *profile.Experiment) int64 { return e.Samples }
	for _, parts := range s.cpuTime(pointNamed(s.result, point), total) {
		for _, p := range parts {
			visits += p.den
			samples += p.num
		}
	}
	for _, d := range s.runs {
		period = max(period, float64(d.Run.PeriodNS))
	}
	return period / visits, visits > 0 && samples > 0
}
