package analyze

import (
	"fmt"
	"math"
	"slices"

	"whatif/internal/profile"
)

// Comparison is what changed from one profile to another.
type Comparison struct {
	Old, New *Result
	// SameBuild: all binaries with a unit that was tried are known to be the same.
	SameBuild bool
	Points    []PointChange
	Units     []UnitChange // those in both, by how much is certain and large
	// Gone and Appeared were tried on one side and not found on the other.
	Gone, Appeared []*Target
	Warnings       []Warning
}

// PointChange is how much faster the program really became at a point.
type PointChange struct {
	Name   string
	Metric Metric
	// Old and New are visits per second; of a latency its mean, in ns.
	Old, New float64
	// Gain is by how much the time per visit (the latency) fell, in percent, as the
	// gains that are predicted. Its interval holds what differs from run to run only
	// if BetweenRuns is set: else there was one run of each.
	Gain        Estimate
	BetweenRuns bool
	// Rest is by how much the CPU time per visit fell in the code that is not known to
	// have become faster or slower: by how much the machine did, if nothing else did.
	Rest Estimate

	change factor // what Gain is
}

// Again says that an earlier one of the points is about the same visits, and this about another metric
// of them: what a visit costs is the same.
func (c *Comparison) Again(p int) bool { return c.first(p) != p }

// first is the first of the points that is about the same visits.
func (c *Comparison) first(p int) int {
	return slices.IndexFunc(c.Points, func(q PointChange) bool { return q.Name == c.Points[p].Name })
}

// UnitChange is a unit that both profiles have, or one that was replaced: then New is nil.
type UnitChange struct {
	Old, New *Target
	How      string // SameUnit, …
	Effects  []EffectChange
	Promises []Promise

	by *replacement // what is compared with what
}

// With is how many other lines were replaced together with it.
func (u *UnitChange) With() int { return len(u.by.gone) - 1 }

// EffectChange is how the gain that a unit promises changed.
type EffectChange struct {
	Point    int // of Comparison.Points
	Speedup  int // at which the gains are
	Old, New Estimate
	Change   Estimate // new less old, in points
	// Changed is set when that is certain with all units' changes taken together.
	Changed bool
}

// Promise is what a unit's real speed-up was predicted to bring, and what came.
type Promise struct {
	Point int // of Comparison.Points
	// OldNS and NewNS are the unit's CPU time per visit.
	OldNS, NewNS float64
	Speedup      Estimate // percent by which that fell
	// Certain is set when the unit surely became faster, by leastSpeedup, with all units taken together; then
	// Predicted is what that was to gain, and Outcome how it compares with PointChange.Gain.
	Certain   bool
	Predicted Estimate
	Outcome   Outcome
	// Slower is set when the unit surely became slower, likewise.
	Slower bool
}

// Outcome says whether a promise was kept.
type Outcome string

const (
	Arrived  Outcome = "arrived"   // there is a gain, and it is as predicted as far as can be told
	Less     Outcome = "less"      // surely less than predicted
	More     Outcome = "more"      // surely more
	NotKnown Outcome = "not known" // predicted or actual is too uncertain
)

// Compare says what changed. Gains are compared as estimates that are independent of each other, which their
// error of method is not, so that intervals of changes are rather too wide. Rates are those of the baselines.
func Compare(old, new []*profile.Data, opt Options) *Comparison {
	c := &Comparison{Old: Analyze(old, opt), New: Analyze(new, opt)}
	same := sameBuilds(c.Old, c.New)
	c.SameBuild = !profile.Differ(old, new) && allTried(c.Old, same) && allTried(c.New, same)
	s := sides{newSide(c.Old, old), newSide(c.New, new)}
	matches := matchUnits(c.Old.Targets, c.New.Targets, same)
	replaced := c.replacements(matches, same)
	// Many units are looked at; all of what is said to have changed has: Bonferroni.
	both := 0
	for _, m := range matches {
		switch {
		case m.new == nil && m.old.Tried > 0 && replaced.of(m.old) != nil:
			both++
		case m.new == nil && m.old.Tried > 0:
			c.Gone = append(c.Gone, m.old)
		case m.old == nil && m.new.Tried > 0 && !replaced.came(m.new):
			c.Appeared = append(c.Appeared, m.new)
		case m.old != nil && m.new != nil && m.old.Tried > 0:
			both++
		}
	}
	family := alpha / float64(max(1, both))
	c.points(s)
	for _, m := range matches {
		if m.old == nil || m.old.Tried == 0 {
			continue // nothing was promised
		}
		u := UnitChange{Old: m.old, New: m.new, How: m.how, by: &replacement{[]*Target{m.old}, []*Target{m.new}}}
		if m.new == nil {
			if u.How, u.by = Replaced, replaced.of(m.old); u.by == nil {
				continue // it is among those that are gone
			}
		}
		for p := range c.Points {
			if e, ok := c.effectChange(m, p, family); ok {
				u.Effects = append(u.Effects, e)
			}
			if k, ok := c.promise(s, m, u.by, p, u.Promises, family); ok {
				u.Promises = append(u.Promises, k)
			}
		}
		switch {
		case len(u.Effects)+len(u.Promises) > 0:
			c.Units = append(c.Units, u)
		case m.new == nil:
			c.Gone = append(c.Gone, m.old)
		}
	}
	c.rest(s)
	slices.SortStableFunc(c.Units, func(a, b UnitChange) int {
		if d := b.weight() - a.weight(); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	c.doubts()
	return c
}

// weight is what units are ordered by: promises, then changes, then the rest.
func (u *UnitChange) weight() float64 {
	w := u.Old.Share / 100
	if u.New != nil {
		w = math.Max(w, u.New.Share/100)
	}
	for _, e := range u.Effects {
		if e.Changed {
			w = max(w, 1000+math.Abs(e.Change.Value))
		}
	}
	for _, p := range u.Promises {
		if p.Certain {
			w = max(w, 1e6+math.Abs(p.OldNS-p.NewNS)/max(1, p.OldNS)*math.Max(u.Old.Share, 1e-3))
		}
	}
	return w
}

// A side is a profile and its result: whose targets are in another order.
type side struct {
	*input
	result *Result
	ids    map[profile.UnitKey][][]uint32 // by run
}

type sides struct{ old, new side }

func newSide(r *Result, runs []*profile.Data) side {
	s := side{newInput(runs), r, map[profile.UnitKey][][]uint32{}}
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

// points compares the points that both have, latencies' ends by their latency.
func (c *Comparison) points(s sides) {
	ends := map[string]bool{}
	for i := range c.Old.Latencies {
		l := &c.Old.Latencies[i]
		ends[c.Old.Points[l.Begin].Name] = true
		j := slices.IndexFunc(c.New.Latencies, func(m Latency) bool { return m.Name == l.Name })
		if j < 0 {
			continue
		}
		m := &c.New.Latencies[j]
		p := PointChange{Name: l.Name, Metric: MeanLatency, Old: l.Mean, New: m.Mean}
		c.addPoint(p, s.old.sojourns(l), s.new.sojourns(m))
	}
	for k, p := range c.Old.Points {
		j := c.New.pointNamed(p.Name)
		if j < 0 || ends[p.Name] {
			continue
		}
		c.addPoint(PointChange{Name: p.Name, Metric: Throughput, Old: p.Rate, New: c.New.Points[j].Rate},
			s.old.parts(s.old.visits(k)), s.new.parts(s.new.visits(j)))
	}
}

func (r *Result) pointNamed(name string) int {
	return slices.IndexFunc(r.Points, func(p Point) bool { return p.Name == name })
}

func (c *Comparison) addPoint(p PointChange, old, new [][]part) {
	a, aOK := newSumRatio(old)
	b, bOK := newSumRatio(new)
	if aOK && bOK {
		p.change = changeOf(a, b)
		p.Gain, p.BetweenRuns = p.change.gain(alpha), p.change.between
	}
	c.Points = append(c.Points, p)
}

// parts is time and visits of the baselines, by run.
func (in *input) parts(see view) [][]part {
	return in.gather(func(r int, e *profile.Experiment) (part, bool) {
		o, ok := see(r, e)
		return part{o.time, o.visits}, ok
	})
}

// sojourns is the time that requests spent in the system and how many came, by run:
// Little's law, as in latency.go.
func (in *input) sojourns(l *Latency) [][]part {
	return in.gather(func(r int, e *profile.Experiment) (part, bool) {
		d, window := in.durations(l, r, e)
		if d == nil || window == 0 {
			return part{}, false
		}
		return part{max(0, d.AreaNS), d.Begun}, true
	})
}

func (in *input) gather(of func(r int, e *profile.Experiment) (part, bool)) [][]part {
	all := make([][]part, len(in.runs))
	for r, d := range in.runs {
		for _, i := range in.bases[r] {
			if p, ok := of(r, &d.Experiments[i]); ok {
				all[r] = append(all[r], p)
			}
		}
	}
	return all
}

// effectChange compares what a unit promises at half its time, or at another quarter that both know, or at the
// largest speed-up that both do.
func (c *Comparison) effectChange(m match, p int, family float64) (EffectChange, bool) {
	if m.new == nil {
		return EffectChange{}, false
	}
	old, new := c.Old.effect(m.old, &c.Points[p]), c.New.effect(m.new, &c.Points[p])
	if old == nil || new == nil {
		return EffectChange{}, false
	}
	// What is counted by the clock or corrected in one, as placebos told, is no change of the other's.
	if a, b := c.Old.Points[old.Point], c.New.Points[new.Point]; old.Metric == Throughput && (a.Paced != b.Paced || a.Dragged != b.Dragged) {
		return EffectChange{}, false
	}
	for _, speedup := range append([]int{50, 75, 100, 25}, old.downwards()...) {
		a, aOK := old.level(speedup)
		b, bOK := new.level(speedup)
		if !aOK || !bOK {
			continue
		}
		e := EffectChange{Point: p, Speedup: speedup, Old: a.Gain, New: b.Gain, Change: Estimate{Value: b.Gain.Value - a.Gain.Value, Known: true}}
		if a.Gain.Bounded && b.Gain.Bounded {
			h := math.Hypot(a.doubt.half(alpha), b.doubt.half(alpha))
			e.Change.Low, e.Change.High, e.Change.Bounded = e.Change.Value-h, e.Change.Value+h, true
			e.Changed = math.Abs(e.Change.Value) > math.Hypot(a.doubt.half(family), b.doubt.half(family))
		}
		return e, true
	}
	return EffectChange{}, false
}

// downwards are the speed-ups that were tried, the largest first.
func (e *Effect) downwards() (all []int) {
	for _, l := range slices.Backward(e.Curve) {
		if l.Speedup > 0 {
			all = append(all, l.Speedup)
		}
	}
	return all
}

// effect is that of a unit on what a point change is about, if it was tried.
func (r *Result) effect(t *Target, p *PointChange) *Effect {
	for i := range t.Effects {
		if e := &t.Effects[i]; e.Metric == p.Metric && r.Points[e.Point].Name == p.Name && e.Experiments > 0 {
			return e
		}
	}
	return nil
}

// promise is what became of a unit at a point. What it costs per visit is taken from those made so far, if
// one is about the same visits.
func (c *Comparison) promise(s sides, m match, by *replacement, p int, made []Promise, family float64) (Promise, bool) {
	k, ok := Promise{}, false
	if first := c.first(p); first == p {
		k, ok = c.cost(s, by, p, family)
		k.Slower = k.Slower && m.new != nil // there may be more in the function now
	} else if i := slices.IndexFunc(made, func(k Promise) bool { return k.Point == first }); i >= 0 {
		k, ok = made[i], true
		k.Predicted = Estimate{}
	}
	k.Point, k.Outcome = p, NotKnown
	if e := c.Old.effect(m.old, &c.Points[p]); ok && k.Certain && e != nil {
		k.Predicted = e.predict(k.Speedup)
		k.Outcome = outcome(k.Predicted, c.Points[p].Gain)
	}
	return k, ok
}

// cost is a unit's CPU time per visit, then and now; of one that was replaced, that of all that was replaced with it.
func (c *Comparison) cost(s sides, by *replacement, p int, family float64) (Promise, bool) {
	point := c.Points[p].Name
	old, ok := s.old.cost(point, by.gone)
	if !ok {
		return Promise{}, false
	}
	k := Promise{OldNS: math.Exp(old.mean())}
	var sure Estimate
	if new, ok := s.new.cost(point, by.came); ok {
		f := changeOf(old, new)
		k.NewNS = math.Exp(new.mean())
		k.Speedup, sure = f.gain(alpha), f.gain(family)
	} else if sample, ok := s.new.costOfSample(point); ok {
		k.Speedup, sure = unseen(old, sample, alpha), unseen(old, sample, family)
	} else {
		return Promise{}, false
	}
	k.Certain = sure.Bounded && sure.Low > 0 && sure.Value >= leastSpeedup
	k.Slower = sure.Bounded && sure.High < 0 && sure.Value <= -leastSpeedup
	return k, true
}

// unseen is by how much code became faster of which there is not a single sample any more: it may still take as much as would
// have left one but with the chance alpha.
func unseen(old sumRatio, sample, alpha float64) Estimate {
	e := Estimate{Value: 100, High: 100, Known: true}
	if old.df > 0 {
		least := math.Exp(old.mean() - tQuantile(alpha, old.df)*math.Sqrt(old.within))
		e.Low, e.Bounded = max(0, 100*(1+math.Log(alpha)*sample/least)), true
	}
	return e
}

// cost is the CPU time per visit that units take together.
func (s *side) cost(point string, units []*Target) (sumRatio, bool) {
	return newSumRatio(s.costs(s.result.pointNamed(point), func(r int, e *profile.Experiment) (n int64) {
		for _, t := range units {
			if by := s.ids[t.Unit.Key()]; by != nil {
				for _, id := range by[r] {
					n += e.UnitSamples[id]
				}
			}
		}
		return n
	}))
}

// costOfSample is what a single sample in all of the baselines comes to, per visit, if there were any.
func (s *side) costOfSample(point string) (ns float64, ok bool) {
	var visits, period, samples float64
	for _, parts := range s.costs(s.result.pointNamed(point), func(_ int, e *profile.Experiment) int64 { return e.Samples }) {
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

// costs is CPU time and visits of the baselines, by run.
func (in *input) costs(k int, samples func(r int, e *profile.Experiment) int64) [][]part {
	slots := make([]int, len(in.runs))
	for r := range in.runs {
		slots[r] = in.slot(r, k)
	}
	return in.gather(func(r int, e *profile.Experiment) (part, bool) {
		if !measured(e, slots[r]) || in.runs[r].Run.PeriodNS <= 0 {
			return part{}, false
		}
		return part{float64(samples(r, e)) * float64(in.runs[r].Run.PeriodNS), float64(e.Points[slots[r]].Count)}, true
	})
}

// predict reads the curve at a speed-up that is itself uncertain: the interval holds
// those of the curve at both of its ends.
func (e *Effect) predict(speedup Estimate) Estimate {
	p, ok := e.at(speedup.Value)
	if !ok {
		return Estimate{}
	}
	if !p.Bounded || !speedup.Bounded {
		p.Bounded = false
		return p
	}
	for _, s := range []float64{speedup.Low, speedup.High} {
		q, ok := e.at(min(100, max(0, s)))
		if !ok || !q.Bounded {
			p.Bounded = false
			return p
		}
		p.Low, p.High = min(p.Low, q.Low), max(p.High, q.High)
	}
	return p
}

// at reads the curve between its levels; beyond the last it goes on as between the origin and that.
func (e *Effect) at(speedup float64) (Estimate, bool) {
	levels := slices.Concat(e.Curve, e.Marks)
	levels = slices.DeleteFunc(levels, func(l Level) bool { return !l.Gain.Known })
	slices.SortStableFunc(levels, func(a, b Level) int { return a.Speedup - b.Speedup })
	if len(levels) < 2 || speedup < 0 {
		return Estimate{}, false
	}
	hi := len(levels) - 1
	for i, l := range levels {
		if float64(l.Speedup) >= speedup && l.Speedup > 0 {
			hi = i
			break
		}
	}
	lo := hi - 1
	for lo > 0 && levels[lo].Speedup == levels[hi].Speedup {
		lo--
	}
	if float64(levels[hi].Speedup) < speedup {
		lo = 0
	}
	a, b := levels[lo], levels[hi]
	if a.Speedup == b.Speedup {
		return Estimate{}, false
	}
	w := (speedup - float64(a.Speedup)) / float64(b.Speedup-a.Speedup)
	mix := func(x, y float64) float64 { return x + w*(y-x) }
	return Estimate{Value: mix(a.Gain.Value, b.Gain.Value), Low: mix(a.Gain.Low, b.Gain.Low), High: mix(a.Gain.High, b.Gain.High),
		Known: true, Bounded: a.Gain.Bounded && b.Gain.Bounded}.atMost(100), true
}

// outcome compares what was predicted with what came.
func outcome(predicted, actual Estimate) Outcome {
	if !predicted.Known || !predicted.Bounded || !actual.Known || !actual.Bounded {
		return NotKnown
	}
	d := actual.Value - predicted.Value
	switch {
	case d-math.Hypot(actual.Value-actual.Low, predicted.High-predicted.Value) > 0:
		return More
	case d+math.Hypot(actual.High-actual.Value, predicted.Value-predicted.Low) < 0:
		return Less
	case actual.Low > 0:
		return Arrived
	}
	return NotKnown
}

// rest compares the CPU time per visit of all code whose own is not known to have changed.
func (c *Comparison) rest(s sides) {
	for p := range c.Points {
		if first := c.first(p); first != p {
			c.Points[p].Rest = c.Points[first].Rest
			continue
		}
		changed := [2]map[profile.UnitKey]bool{{}, {}}
		for _, u := range c.Units {
			for _, k := range u.Promises {
				if k.Point != p || !k.Certain && !k.Slower {
					continue
				}
				for i, units := range [][]*Target{u.by.gone, u.by.came} {
					for _, t := range units {
						changed[i][t.Unit.Key()] = true
					}
				}
			}
		}
		var ratios [2]sumRatio
		known := true
		for i, on := range []side{s.old, s.new} {
			l, ok := newSumRatio(on.costs(on.result.pointNamed(c.Points[p].Name), func(r int, e *profile.Experiment) int64 {
				n := e.Samples
				for id, count := range e.UnitSamples {
					if changed[i][on.runs[r].Units[id].Key()] {
						n -= count
					}
				}
				return max(0, n)
			}))
			ratios[i], known = l, known && ok
		}
		if known {
			c.Points[p].Rest = changeOf(ratios[0], ratios[1]).gain(alpha)
		}
	}
}

// leastSpeedup, in percent, is less than what a change of code is made for: where a
// line's neighbours change, its share changes by as much.
const leastSpeedup = 3

// restMatters is how much the rest may change, in percent, before it is said.
const restMatters = 3

func (c *Comparison) doubts() {
	warn := func(code, format string, args ...any) {
		c.Warnings = append(c.Warnings, Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if len(c.Points) == 0 {
		warn("no-common-point", "the profiles have no progress point in common: nothing can be compared")
	}
	if slices.ContainsFunc(c.Points, func(p PointChange) bool { return p.Gain.Known && !p.BetweenRuns }) {
		warn("one-run", "one run of each: what the machine does differently from one run to the next is not in the intervals of what was gained; run each again, by turns, to know it")
	}
	for i, p := range c.Points {
		if r := p.Rest; !c.Again(i) && r.Bounded && (r.Low > restMatters || r.High < -restMatters) {
			what := "less"
			if r.Value < 0 {
				what = "more"
			}
			warn("rest-changed", "%s: the rest of the program took %.0f%% %s CPU time per visit than before: the machine was not equally fast, or other code changed too", p.Name, math.Abs(r.Value), what)
		}
	}
	if a, b := machineOf(c.Old), machineOf(c.New); a != b {
		warn("other-machine", "the profiles are not from the same machine: %s, and %s", a, b)
	}
}

// machineOf says where the first run was.
func machineOf(r *Result) string {
	if len(r.Runs) == 0 || r.Runs[0].Run == nil {
		return "none"
	}
	p := r.Runs[0].Run
	return fmt.Sprintf("%s (%d CPUs, %s)", p.Host, p.CPUs, p.Kernel)
}
