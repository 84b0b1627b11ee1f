// Package diff compares two profiles of a program, before and after a change of its code: what the
// program gained, whether the gains that the old profile predicted were realised, and what each unit
// is predicted to gain now. It is pure, as package analyze is.
//
// The normal sequence is profile.Read of both sides, Compare, and then Diff, DiffJSON or GitHubDiff
// of package report; or Comparison.CheckLeast and CheckLoss, if only limits matter. Matches is for
// programs that show the units of two profiles beside each other.
//
// Units are found again by what they are (match.go). A line that was replaced is compared with the
// lines that took its place (replaced.go).
package diff

import (
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// Comparison is what changed from one profile to another.
type Comparison struct {
	Old, New *analyze.Result
	// SameBuild says that all binaries with a unit that was tried are known to be the same.
	SameBuild bool
	Points    []PointChange
	Units     []UnitChange // those in both profiles; certain and large changes first
	// Gone and Appeared are units that were tried on one side and not found on the other.
	Gone, Appeared []*analyze.Target
	Warnings       analyze.Warnings
}

// PointChange is how much faster the program really became at a point.
type PointChange struct {
	Name   string
	Metric analyze.Metric
	// Old and New are visits per second; of a latency, its mean in ns.
	Old, New float64
	// Gain is by how many percent the time per visit (the mean latency) fell, as in predicted gains.
	// BetweenRuns says that its interval includes the differences from run to run, which several
	// runs on one side show.
	Gain        analyze.Estimate
	BetweenRuns bool
	// Rest is by how much the CPU time per visit fell in the code that is not known to have become
	// faster or slower. If nothing else changed, the machine's speed changed by as much.
	Rest analyze.Estimate

	change factor // what Gain is computed from
}

// SameVisitsBefore says that an earlier point is about the same visits, and that point p is another
// metric of them. Both have the same CPU time per visit.
func (c *Comparison) SameVisitsBefore(p int) bool { return c.firstOf(p) != p }

// firstOf is the first point that is about the same visits as point p.
func (c *Comparison) firstOf(p int) int {
	return slices.IndexFunc(c.Points, func(q PointChange) bool { return q.Name == c.Points[p].Name })
}

// UnitChange is a unit that both profiles have, or a line that was replaced: then New is nil.
type UnitChange struct {
	Old, New    *analyze.Target
	MatchedBy   string // SameUnit, SameText, SameNumber or Replaced
	Effects     []EffectChange
	Predictions []Prediction

	by *replacement // the units on both sides of the comparison of costs
}

// OthersReplaced is how many other lines were replaced together with this one.
func (u *UnitChange) OthersReplaced() int { return len(u.by.gone) - 1 }

// EffectChange is how the predicted gain of a unit changed.
type EffectChange struct {
	Point    int // index of Comparison.Points
	Speedup  int // the speed-up of both gains
	Old, New analyze.Estimate
	Change   analyze.Estimate // new less old, in percentage points
	// Changed says that this is certain for the changes of all units taken together.
	Changed bool
}

// Compare says what changed from the old runs to the new ones. It takes the estimates of both sides
// as independent. Their method error is not, so the intervals of changes are rather too wide. Rates
// are those of the baselines.
func Compare(old, new []*profile.Data, opt analyze.Options) *Comparison {
	c := &Comparison{Old: analyze.Analyze(old, opt), New: analyze.Analyze(new, opt)}
	same := sameBuilds(c.Old, c.New)
	c.SameBuild = !profile.Differ(old, new) && allTried(c.Old, same) && allTried(c.New, same)
	s := sides{newSide(c.Old, old), newSide(c.New, new)}
	matches := matchUnits(c.Old.Targets, c.New.Targets, same)
	replaced := c.replacements(matches, same)
	family := analyze.Alpha / float64(max(1, c.countCompared(matches, replaced)))
	c.comparePoints(s)
	for _, m := range matches {
		if m.old == nil || m.old.Tried == 0 {
			continue // there was no prediction
		}
		by := &replacement{[]*analyze.Target{m.old}, []*analyze.Target{m.new}}
		u := UnitChange{Old: m.old, New: m.new, MatchedBy: m.how, by: by}
		if m.new == nil {
			if u.MatchedBy, u.by = Replaced, replaced.of(m.old); u.by == nil {
				continue // it is in Gone
			}
		}
		for p := range c.Points {
			if e, ok := c.effectChange(m, p, family); ok {
				u.Effects = append(u.Effects, e)
			}
			if k, ok := c.prediction(s, m, u.by, p, u.Predictions, family); ok {
				u.Predictions = append(u.Predictions, k)
			}
		}
		switch {
		case len(u.Effects)+len(u.Predictions) > 0:
			c.Units = append(c.Units, u)
		case m.new == nil:
			c.Gone = append(c.Gone, m.old)
		}
	}
	c.compareRest(s)
	slices.SortStableFunc(c.Units, func(a, b UnitChange) int {
		if d := b.weight() - a.weight(); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	c.addWarnings()
	return c
}

// countCompared counts the units that are compared, and lists those that one side does not have. The
// level of "certain" is divided by the count (Bonferroni), so that all statements hold together.
func (c *Comparison) countCompared(matches []match, replaced replacements) (compared int) {
	for _, m := range matches {
		switch {
		case m.new == nil && m.old.Tried > 0 && replaced.of(m.old) != nil:
			compared++
		case m.new == nil && m.old.Tried > 0:
			c.Gone = append(c.Gone, m.old)
		case m.old == nil && m.new.Tried > 0 && !replaced.came(m.new):
			c.Appeared = append(c.Appeared, m.new)
		case m.old != nil && m.new != nil && m.old.Tried > 0:
			compared++
		}
	}
	return compared
}

// weight orders the units: certain predictions first, then certain changes, then the rest by share.
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
	for _, p := range u.Predictions {
		if p.Faster {
			w = max(w, 1e6+math.Abs(p.OldNS-p.NewNS)/max(1, p.OldNS)*math.Max(u.Old.Share, 1e-3))
		}
	}
	return w
}

// effectChange compares the gain that both sides predict at half the unit's time; or else at another
// quarter that both have, or at the largest speed-up that both tried.
func (c *Comparison) effectChange(m match, p int, family float64) (EffectChange, bool) {
	if m.new == nil {
		return EffectChange{}, false
	}
	old, new := effectOn(c.Old, m.old, &c.Points[p]), effectOn(c.New, m.new, &c.Points[p])
	if old == nil || new == nil {
		return EffectChange{}, false
	}
	// An effect in real time, or one that was corrected for a delay bias, does not compare with one
	// that was not.
	a, b := &c.Old.Points[old.Point], &c.New.Points[new.Point]
	if old.Metric == analyze.Throughput && (a.Paced != b.Paced || a.DelayBiased != b.DelayBiased) {
		return EffectChange{}, false
	}
	for _, speedup := range append([]int{50, 75, 100, 25}, triedDownwards(old)...) {
		a, aOK := old.LevelAt(speedup)
		b, bOK := new.LevelAt(speedup)
		if !aOK || !bOK {
			continue
		}
		e := EffectChange{Point: p, Speedup: speedup, Old: a.Gain, New: b.Gain,
			Change: analyze.Estimate{Value: b.Gain.Value - a.Gain.Value, Known: true}}
		if a.Gain.Bounded && b.Gain.Bounded {
			h := math.Hypot(a.Half(analyze.Alpha), b.Half(analyze.Alpha))
			e.Change.Low, e.Change.High, e.Change.Bounded = e.Change.Value-h, e.Change.Value+h, true
			e.Changed = math.Abs(e.Change.Value) > math.Hypot(a.Half(family), b.Half(family))
		}
		return e, true
	}
	return EffectChange{}, false
}

// triedDownwards are the speed-ups that were tried, the largest first.
func triedDownwards(e *analyze.Effect) (all []int) {
	for _, l := range slices.Backward(e.Curve) {
		if l.Speedup > 0 {
			all = append(all, l.Speedup)
		}
	}
	return all
}

// effectOn is the effect of a unit on the point and metric of p; nil if it was not tried.
func effectOn(r *analyze.Result, t *analyze.Target, p *PointChange) *analyze.Effect {
	for i := range t.Effects {
		e := &t.Effects[i]
		if e.Metric == p.Metric && r.Points[e.Point].Name == p.Name && e.Experiments > 0 {
			return e
		}
	}
	return nil
}
