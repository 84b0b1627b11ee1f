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
	for begin, before := range d.before {
		for _, i := range before {
			if d.dominates(int32(begin), i) {
				ends[int32(begin)] = append(ends[int32(begin)], i)
			}
		}
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
