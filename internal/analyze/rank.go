package analyze

import (
	"cmp"
	"slices"
)

// rank orders targets by what somebody can act on: those that surely make the
// program faster, by the least that they gain; then those that surely make it
// slower, by the least that they lose; then those of which nothing is known yet,
// and last those that surely do nothing, both by their share of the time. With
// several points a target's best effect counts.
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
			cmp.Compare(kb.sure, ka.sure),
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
	class int
	sure  float64 // the least effect that is sure, at the end of the curve
}

func keyOf(t *Target) rankKey {
	best := rankKey{class: len(classes)}
	for i := range t.Effects {
		e := &t.Effects[i]
		k := rankKey{class: slices.Index(classes, e.Verdict)}
		switch e.Verdict {
		case Faster:
			k.sure = e.Slope.Low
		case Slower:
			k.sure = -e.Slope.High
		}
		if k.class < best.class || k.class == best.class && k.sure > best.sure {
			best = k
		}
	}
	return best
}

var classes = []Verdict{Faster, Slower, Unsure, None}
