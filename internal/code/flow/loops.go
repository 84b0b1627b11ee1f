package flow

import (
	"cmp"
	"slices"
)

// Loop is code that repeats: a beginning, through which all ways into the loop lead, and all instructions from which a
// way leads back to it without leaving the loop.
type Loop struct {
	Body []Span // all instructions, ascending
}

// Span is where an instruction is.
type Span struct {
	Addr uint64
	Size uint64
}

// mostSteps bounds the search for loops, and mostInLoops the instructions of all loops together: more than compilers
// make of any method or function.
const mostSteps, mostInLoops = 1 << 22, 1 << 18

// Loops returns the loops, those with few instructions first, so that inner loops come before the loops around them.
// Loops with the same beginning are one. Code that can be entered in two places is no loop, and a jump back from a rare
// case at the end of a function makes none.
func (g *Graph) Loops() []Loop {
	switches := 0
	for i := range g.insts {
		if g.insts[i].kind == indirect {
			switches++
		}
	}
	if switches*len(g.orphans) > mostSteps { // each may lead to each of them
		return nil
	}
	d := newDominators(g)
	ends := map[int32][]int32{} // the loops' beginnings, and from where they come again
	for i := range int32(len(g.insts)) {
		g.successors(i, func(n int32) {
			if d.dominates(n, i) {
				ends[n] = append(ends[n], i)
			}
		})
	}
	if d.steps > mostSteps {
		return nil
	}
	var loops []Loop
	instructions := 0
	for begin, from := range ends {
		loops = append(loops, g.loop(d, begin, from))
		if instructions += len(loops[len(loops)-1].Body); instructions > mostInLoops || d.steps > mostSteps {
			return nil
		}
	}
	slices.SortFunc(loops, func(a, b Loop) int {
		return cmp.Or(len(a.Body)-len(b.Body), cmp.Compare(a.Body[0].Addr, b.Body[0].Addr))
	})
	return loops
}

// loop goes from a loop's ends against the control flow, up to its beginning.
func (g *Graph) loop(d *dominators, begin int32, ends []int32) (l Loop) {
	in := map[int32]bool{begin: true}
	var from []int32
	meet := func(all []int32) {
		for _, i := range all {
			if !in[i] && d.rank[i] >= 0 {
				in[i] = true
				from = append(from, i)
			}
		}
	}
	meet(ends)
	for ; len(from) > 0 && d.steps <= mostSteps; d.steps++ {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		meet(d.before[i])
	}
	for i := range in {
		l.Body = append(l.Body, Span{g.insts[i].addr, uint64(g.insts[i].size)})
	}
	slices.SortFunc(l.Body, func(a, b Span) int { return cmp.Compare(a.Addr, b.Addr) })
	return l
}

// dominators tells what lies on all ways to an instruction. The ways begin at the graph's entry, and at instructions
// that nothing leads to, such as what handles an exception, but not at what only fills up. The method is that of
// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
type dominators struct {
	before [][]int32 // from where an instruction is reached
	rank   []int32   // of instructions in an order in which what leads forward comes first; -1: nothing leads there
	next   []int32   // by rank: that of the nearest dominator. Rank 0 is before all.
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
	d.next = make([]int32, len(order)+1)
	known := make([]bool, len(order)+1)
	known[0] = true
	for changed := true; changed && d.steps <= mostSteps; {
		changed = false
		for _, i := range order {
			at, next := d.rank[i], int32(-1)
			if isRoot[i] {
				next = 0
			}
			d.steps += 1 + len(d.before[i])
			for _, b := range d.before[i] {
				if p := d.rank[b]; p >= 0 && known[p] {
					next = d.common(p, next)
				}
			}
			if !known[at] || d.next[at] != next {
				known[at], d.next[at], changed = true, next, true
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
