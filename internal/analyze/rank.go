package analyze

import (
	"cmp"
	"slices"
)

// rank orders targets by how useful they are to act on. First come those that certainly make the
// program faster, by the least gain; then those that certainly make it slower, by the least loss;
// then those of which it is not known yet; then those that certainly do nothing; then those that were
// tried too seldom; and last those that were not tried. All groups but the first two are ordered by
// their share of the time. If there are several points, a target's best effect counts.
func rank(targets []Target) {
	keys := make(map[*Target]rankKey, len(targets))
	order := make([]*Target, len(targets))
	for i := range targets {
		order[i] = &targets[i]
		keys[order[i]] = keyOf(&targets[i])
	}
	slices.SortStableFunc(order, func(a, b *Target) int {
		ka, kb := keys[a], keys[b]
		return cmp.Or(
			cmp.Compare(ka.class, kb.class),
			cmp.Compare(kb.certain, ka.certain),
			cmp.Compare(b.Share, a.Share),
			cmp.Compare(a.Unit.Name, b.Unit.Name),
		)
	})
	sorted := make([]Target, len(targets))
	for i, t := range order {
		sorted[i] = *t
	}
	copy(targets, sorted)
}

type rankKey struct {
	class   int
	certain float64 // the least effect that is certain, at the end of the curve
}

func keyOf(t *Target) rankKey {
	best := rankKey{class: untold}
	for i := range t.Effects {
		e := &t.Effects[i]
		k := rankKey{class: classOf(e)}
		slope := e.Slope
		if e.OnlyEstimated() { // the gain at 100%
			slope = e.Estimated[len(e.Estimated)-1].Gain
			slope.Low, slope.High = slope.Low/100, slope.High/100
		}
		switch e.Verdict {
		case Faster:
			k.certain = slope.Low
		case Slower:
			k.certain = -slope.High
		}
		if k.class < best.class || k.class == best.class && k.certain > best.certain {
			best = k
		}
	}
	return best
}

var classes = []Verdict{Faster, Slower, Unsure, None}

// The classes of effects that have no verdict.
const (
	seldom = iota + 4 // it was tried too seldom
	untold            // it was not tried, and has no estimate
)

func classOf(e *Effect) int {
	switch {
	case e.Basis() == Nothing:
		return untold
	case e.TooFew() && e.Basis() == Tested:
		return seldom
	}
	return slices.Index(classes, e.Verdict)
}
