package flow

import "slices"

// dominators tells what lies on all ways to an instruction. The ways begin at the graph's entry, and at instructions
// that nothing leads to, such as what handles an exception, but not at what only fills up. The method is that of
// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
type dominators struct {
	before [][]int32 // from where an instruction is reached
	rank   []int32   // of instructions in an order in which what leads forward comes first; -1: nothing leads there
	next   []int32   // by rank: that of the nearest dominator; -1: not known yet. Rank 0 is before all.
	steps  int       // taken; beyond mostSteps nothing is right
}

func newDominators(g *Graph) *dominators {
	n := int32(len(g.insts))
	d := &dominators{before: make([][]int32, n), rank: make([]int32, n)}
	for i := range n {
		d.rank[i] = -1
		g.successors(i, func(to int32) { d.before[to] = append(d.before[to], i) })
	}
	isRoot := make([]bool, n)
	for i := range n {
		isRoot[i] = g.insts[i].addr == g.entry
	}
	for _, o := range g.orphans {
		isRoot[o] = true
	}
	order := g.order(isRoot)
	for at, i := range order {
		d.rank[i] = int32(at) + 1
	}
	d.next = append([]int32{0}, slices.Repeat([]int32{-1}, len(order))...)
	for changed := true; changed && d.steps <= mostSteps; {
		changed = false
		for _, i := range order {
			at, next := d.rank[i], int32(-1)
			if isRoot[i] {
				next = 0
			}
			d.steps += 1 + len(d.before[i])
			for _, b := range d.before[i] {
				if p := d.rank[b]; p >= 0 && d.next[p] >= 0 {
					next = d.common(p, next)
				}
			}
			if d.next[at] != next {
				d.next[at], changed = next, true
			}
		}
	}
	return d
}

// order is all instructions that a root leads to, each behind one that leads to it, and loops behind their beginnings.
func (g *Graph) order(isRoot []bool) (all []int32) {
	type visit struct {
		of   int32
		left []int32
	}
	seen := make([]bool, len(g.insts))
	var open []visit
	enter := func(i int32) {
		if !seen[i] {
			seen[i] = true
			v := visit{of: i}
			g.successors(i, func(n int32) { v.left = append(v.left, n) })
			open = append(open, v)
		}
	}
	for i := range int32(len(g.insts)) {
		if isRoot[i] {
			enter(i)
		}
		for len(open) > 0 {
			v := &open[len(open)-1]
			if len(v.left) == 0 {
				all = append(all, v.of)
				open = open[:len(open)-1]
				continue
			}
			n := v.left[len(v.left)-1]
			v.left = v.left[:len(v.left)-1]
			enter(n)
		}
	}
	slices.Reverse(all)
	return all
}

// common is the nearest dominator of two ranks; -1 is no rank.
func (d *dominators) common(a, b int32) int32 {
	if b < 0 {
		return a
	}
	for ; a != b && d.steps <= mostSteps; d.steps++ {
		if a > b {
			a = d.next[a]
		} else {
			b = d.next[b]
		}
	}
	return min(a, b)
}

// dominates tells whether all ways to one instruction pass another one.
func (d *dominators) dominates(a, to int32) bool {
	above, at := d.rank[a], d.rank[to]
	if above < 0 || at < 0 {
		return false
	}
	for ; at > above && d.steps <= mostSteps; d.steps++ {
		at = d.next[at]
	}
	return at == above
}
