package flow

import (
	"cmp"
	"slices"
)

// Loop is code that repeats: what lies between a beginning, through which the loop is entered, and jumps back to it.
type Loop struct {
	Body []Span // all instructions, ascending; jumps back to the beginning included
}

// Span is where an instruction is.
type Span struct {
	Addr uint64
	Size uint64
}

// mostSteps bounds the search for loops: more than compilers make of any method or function.
const mostSteps = 1 << 18

// Loops returns the loops, those with few instructions first, so that inner loops come before the loops around them. A
// jump back to code that is reached otherwise, such as from a rare case at the end of a function, makes none.
func (g *Graph) Loops() []Loop {
	before := make([][]int32, len(g.insts))
	for i := range int32(len(g.insts)) {
		g.successors(i, func(n int32) { before[n] = append(before[n], i) })
	}
	jumps := map[int32][]int32{} // by the beginning that they lead to
	for i := range g.insts {
		if to := g.insts[i].target; to >= 0 && int(to) <= i {
			jumps[to] = append(jumps[to], int32(i))
		}
	}
	var loops []Loop
	steps := 0
	for to, from := range jumps {
		if l, ok := g.loop(before, to, from, &steps); ok {
			loops = append(loops, l)
		}
	}
	slices.SortFunc(loops, func(a, b Loop) int {
		return cmp.Or(len(a.Body)-len(b.Body), cmp.Compare(a.Body[0].Addr, b.Body[0].Addr))
	})
	return loops
}

// loop goes from jumps back against the control flow, up to the beginning that they lead to. ok reports whether that is
// the only way into what it met.
func (g *Graph) loop(before [][]int32, begin int32, jumps []int32, steps *int) (l Loop, ok bool) {
	in := map[int32]bool{begin: true}
	var from []int32
	meet := func(i int32) {
		if !in[i] {
			in[i] = true
			from = append(from, i)
		}
	}
	for _, j := range jumps {
		meet(j)
	}
	for ; len(from) > 0; *steps++ {
		i := from[len(from)-1]
		from = from[:len(from)-1]
		if len(before[i]) == 0 || g.insts[i].addr == g.entry || *steps > mostSteps {
			return l, false
		}
		for _, b := range before[i] {
			meet(b)
		}
	}
	for i := range in {
		l.Body = append(l.Body, Span{g.insts[i].addr, uint64(g.insts[i].size)})
	}
	slices.SortFunc(l.Body, func(a, b Span) int { return cmp.Compare(a.Addr, b.Addr) })
	return l, true
}
