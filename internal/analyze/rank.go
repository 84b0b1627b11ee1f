package analyze

import (
	"cmp"
	"slices"
)

// rank orders targets by how useful they are to act on. First come those that certainly make the
// program faster, by the least gain; then those that certainly make it slower, by the least loss;
// then those of which nothing is known yet; and last those that certainly do nothing. The last two
// groups are ordered by their share of the time. If there are several points, a target's best
// effect counts.
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
	best := rankKey{class: len(classes)}
	for i := range t.Effects {
		e := &t.Effects[i]
		k := rankKey{class: slices.Index(classes, e.Verdict)}
		slope := e.Slope
		if e.Basis() == Estimated { // the gain at 100%
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
