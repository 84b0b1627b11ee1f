package analyze

import (
	"math"
	"slices"
	"sort"
	"strings"

	"whatif/internal/profile"
)

// input is the runs, with units and points merged if they are the same in several runs.
type input struct {
	runs    []*profile.Data
	points  []Point
	pointOf [][]int // run, index in Experiment.Points → index of points, or -1
	targets []Target
	unitOf  []map[uint32]int // run, unit id → index of targets
	tried   [][]occasion     // target → experiments with it, discarded or not
	// bases are the usable baselines, by run. partner is, for each experiment of a run, the
	// baseline that the plan drew with it, or -1.
	bases   [][]int
	partner [][]int
	// baselineDelayShare maps, for each run, ticks in a period to the part of the baselines' time that
	// was delay: ticks and probes delay everywhere.
	baselineDelayShare []map[int]float64
}

// mostBaselineDelayShare limits the share, so that a damaged profile keeps some virtual time.
const mostBaselineDelayShare = 0.9

// An occasion is an experiment: its run and its index in that run.
type occasion struct{ run, exp int }

func newInput(runs []*profile.Data) *input {
	in := &input{runs: runs}
	in.mergePoints()
	in.mergeUnits()
	for r, d := range runs {
		var bases []int
		delay, real, shares := make(map[int]float64), make(map[int]float64), make(map[int]float64)
		for i := range d.Experiments {
			e := &d.Experiments[i]
			switch {
			case !e.IsBaseline():
				u := in.unitOf[r][e.Unit]
				in.tried[u] = append(in.tried[u], occasion{r, i})
			case usable(e):
				bases = append(bases, i)
				delay[e.TicksEach()] += float64(max(0, e.DelayNS))
				real[e.TicksEach()] += float64(e.RealNS)
			}
		}
		in.bases = append(in.bases, bases)
		for ticks := range delay {
			shares[ticks] = min(mostBaselineDelayShare, delay[ticks]/real[ticks])
		}
		in.baselineDelayShare = append(in.baselineDelayShare, shares)
		in.partner = append(in.partner, partners(d.Experiments))
	}
	return in
}

// usable says whether an experiment counts at all.
func usable(e *profile.Experiment) bool { return e.SetAside == "" && e.RealNS > 0 }

// measured says whether point k recorded anything of an experiment. The window may be empty
// although there were visits, if all of the time was virtual.
func measured(e *profile.Experiment, k int) bool {
	if k < 0 || k >= len(e.Points) {
		return false
	}
	v := e.Points[k]
	return v.WindowNS >= 0 && v.Weight >= 0 && v.WindowNS+v.Weight > 0 && !math.IsInf(v.WindowNS+v.Weight, 1)
}

func (in *input) mergePoints() {
	index := map[[2]string]int{}
	specs := map[int]string{}
	for _, d := range in.runs {
		of := make([]int, len(d.Run.Points))
		seen := map[int]bool{}
		for i, p := range d.Run.Points {
			key := [2]string{p.Name, p.Kind}
			k, ok := index[key]
			if !ok {
				k = len(in.points)
				index[key] = k
				in.points = append(in.points, Point{Name: p.Name, Kind: p.Kind})
				specs[k] = p.Spec
			}
			if merged := &in.points[k]; !sameSpec(p.Spec, specs[k]) && !seen[k] && len(merged.Warnings) == 0 {
				merged.Warnings.Add("other-point", "point %s is %s in one run and %s in another: what they counted "+
					"is taken for the same", p.Name, specs[k], p.Spec)
			}
			of[i] = k
			if seen[k] {
				of[i] = -1 // a point that was given twice counts once
			}
			seen[k] = true
		}
		in.pointOf = append(in.pointOf, of)
	}
}

// sameSpec says whether two ways to name a point may mean the same point. "" is unknown.
func sameSpec(a, b string) bool {
	return a == "" || b == "" || strings.TrimPrefix(a, "source:") == strings.TrimPrefix(b, "source:")
}

// slot is the index of point k in the experiments of run r, or -1.
func (in *input) slot(r, k int) int { return slices.Index(in.pointOf[r], k) }

func (in *input) mergeUnits() {
	index := map[profile.UnitKey]int{}
	for _, d := range in.runs {
		of := make(map[uint32]int, len(d.Units))
		ids := make([]uint32, 0, len(d.Units))
		for id := range d.Units {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			u := d.Units[id]
			t, ok := index[u.Key()]
			if !ok {
				t = len(in.targets)
				index[u.Key()] = t
				u.ID = 0
				target := Target{Unit: u}
				if u.Kind == profile.Together {
					target.Together = d.Run.Together
				}
				in.targets = append(in.targets, target)
			}
			of[id] = t
		}
		in.unitOf = append(in.unitOf, of)
	}
	in.tried = make([][]occasion, len(in.targets))
}

// partners finds the baseline that belongs to each experiment of a run. If the plan wrote no pairs,
// experiments and baselines that follow each other directly count as pairs, from the start of the
// run.
func partners(exps []profile.Experiment) []int {
	to := make([]int, len(exps))
	for i := range to {
		to[i] = -1
	}
	join := func(i, j int) {
		if a, b := exps[i].IsBaseline(), exps[j].IsBaseline(); a && !b {
			to[j] = i
		} else if b && !a {
			to[i] = j
		}
	}
	if slices.ContainsFunc(exps, func(e profile.Experiment) bool { return e.Pair != 0 }) {
		first := map[int]int{}
		for i, e := range exps {
			if j, ok := first[e.Pair]; ok && e.Pair != 0 {
				join(j, i)
			} else {
				first[e.Pair] = i
			}
		}
		return to
	}
	for i := 0; i+1 < len(exps); i++ {
		if exps[i].IsBaseline() != exps[i+1].IsBaseline() {
			join(i, i+1)
			i++
		}
	}
	return to
}

// An observation is what one experiment says about a period: how much time for how many visits. For
// a latency, the visits are requests and the time is the sum of their durations. Then size is the
// length of the window, which tells how much the observation is worth; it is 0 if the time is the
// window's length itself.
type observation struct{ visits, time, size float64 }

// window is the length of the window in virtual time.
func (o observation) window() float64 {
	if o.size > 0 {
		return o.size
	}
	return o.time
}

// at is what an experiment says of the point in a slot; nil if its run does not have the point.
func at(e *profile.Experiment, slot int) *profile.Visits {
	if slot < 0 || slot >= len(e.Points) {
		return nil
	}
	return &e.Points[slot]
}

// A view turns an experiment of a run into an observation; false if there is none.
type view func(r int, e *profile.Experiment) (observation, bool)

// visits is the view of point k in virtual time.
func (in *input) visits(k int) view {
	return in.point(k, measured, func(_ *profile.Experiment, v *profile.Visits) observation {
		return observation{visits: v.Weight, time: v.WindowNS}
	})
}

// inRealTime is the view of point k in real time, in which delays are time like any other. It uses
// whole experiments, because the window is in virtual time.
func (in *input) inRealTime(k int) view {
	return in.point(k, measured, func(e *profile.Experiment, v *profile.Visits) observation {
		return observation{visits: float64(v.Count), time: float64(e.RealNS)}
	})
}

// whole is the view of point k in virtual time that uses whole experiments, for units that run in
// phases: see phase.go.
func (in *input) whole(k int) view {
	return in.point(k, visited, func(e *profile.Experiment, v *profile.Visits) observation {
		return observation{visits: float64(v.Count), time: float64(max(0, e.RealNS-max(0, e.DelayNS)))}
	})
}

// visited says whether point k was visited in an experiment.
func visited(e *profile.Experiment, k int) bool { return e.Points[k].Count > 0 }

// point is a view of point k for the experiments that have it.
func (in *input) point(
	k int, has func(*profile.Experiment, int) bool, see func(*profile.Experiment, *profile.Visits) observation,
) view {
	slots := make([]int, len(in.runs))
	for r := range in.runs {
		slots[r] = in.slot(r, k)
	}
	return func(r int, e *profile.Experiment) (observation, bool) {
		v := at(e, slots[r])
		if v == nil || !has(e, slots[r]) {
			return observation{}, false
		}
		return see(e, v), true
	}
}

// segments collects the baselines, one segment for each run.
func (in *input) segments(see view) []segment {
	all := make([]segment, len(in.runs))
	for r, d := range in.runs {
		for _, i := range in.bases[r] {
			v, ok := see(r, &d.Experiments[i])
			if !ok || v.window() == 0 {
				continue
			}
			all[r].base = append(all[r].base, window{visits: v.visits, time: v.time, raw: v.time, size: v.size})
			all[r].at = append(all[r].at, i)
		}
	}
	return all
}

// find is the index of experiment i among the segment's baselines, or -1.
func (s *segment) find(i int) int {
	if j := s.position(i); j < len(s.at) && s.at[j] == i {
		return j
	}
	return -1
}

// position is the number of baselines of the segment before experiment i.
func (s *segment) position(i int) int { return sort.SearchInts(s.at, i) }
