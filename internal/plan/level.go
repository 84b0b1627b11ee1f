package plan

import (
	"math/rand/v2"
	"slices"
)

// A queue is the coming levels of one unit, in random order. Each level is drawn once per round, so
// a short run tries all of them, which independent draws would not do.
type queue struct {
	coming []int
	rest   []int // the levels of this round that are no anchors
}

// anchors are the levels that tell most about a curve: the largest speed-up its slope, half of it
// and a quarter its shape.
var anchors = []int{100, 50, 25}

const (
	// between is how many of the other levels come with each round of the anchors.
	between = 2
	// nearBend is how near to a bend a level has to be, in percent.
	nearBend = 15
)

// next draws a level. Of up to five levels, each comes once in a round. Of more, a round has the
// anchors and two others. One of these is near the bend, if there is one.
func (q *queue) next(rng *rand.Rand, levels []int, bend int) int {
	if len(levels) <= len(anchors)+between {
		return q.draw(rng, levels)
	}
	if len(q.coming) == 0 {
		var others []int
		round := nearest(levels, anchors)
		for _, l := range levels {
			if !slices.Contains(round, l) {
				others = append(others, l)
			}
		}
		if bend > 0 {
			if near := around(others, bend, nearBend); len(near) > 0 {
				round = append(round, near[rng.IntN(len(near))])
			}
		}
		for len(round) < len(anchors)+between {
			round = append(round, q.other(rng, others))
		}
		q.shuffle(rng, round)
	}
	return q.pop()
}

// draw draws from a queue in which each level comes once.
func (q *queue) draw(rng *rand.Rand, levels []int) int {
	if len(q.coming) == 0 {
		q.shuffle(rng, slices.Clone(levels))
	}
	return q.pop()
}

// other draws one of the levels that are no anchors: each once before any comes again.
func (q *queue) other(rng *rand.Rand, others []int) int {
	if len(q.rest) == 0 {
		q.rest = slices.Clone(others)
		rng.Shuffle(len(q.rest), func(i, j int) { q.rest[i], q.rest[j] = q.rest[j], q.rest[i] })
	}
	l := q.rest[0]
	q.rest = q.rest[1:]
	return l
}

func (q *queue) shuffle(rng *rand.Rand, round []int) {
	rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	q.coming = round
}

func (q *queue) pop() int {
	l := q.coming[0]
	q.coming = q.coming[1:]
	return l
}

// nearest are those of levels that are nearest to the values in to, each once.
func nearest(levels, to []int) []int {
	var near []int
	for _, t := range to {
		best := levels[0]
		for _, l := range levels {
			if abs(l-t) <= abs(best-t) {
				best = l
			}
		}
		if !slices.Contains(near, best) {
			near = append(near, best)
		}
	}
	return near
}

func around(levels []int, of, distance int) (near []int) {
	for _, l := range levels {
		if abs(l-of) <= distance {
			near = append(near, l)
		}
	}
	return near
}

func abs(x int) int { return max(x, -x) }
