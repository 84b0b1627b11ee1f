// Package lineentry chooses the instructions that count the executions of a source line's statement. A
// compiler may cut the code of a statement into pieces, put these anywhere, and make copies. The
// package chooses pieces such that each execution passes one of them, once.
//
// Take the statements of the line from package dwarf. For those of one function call Graph, then
// Choose for each. One Effort is shared by all calls for a line, so that a hostile file costs bounded
// time. The package is pure; Graph knows x86-64 only.
package lineentry

import (
	"slices"

	"whatif/internal/code/flow"
	"whatif/internal/code/symbol/dwarf"
)

// Effort is the number of instructions that may still be examined for one line; below 0 if it is spent.
type Effort int64

// MaxEffort takes about a second. It is enough for 16 MB of functions with code of the line.
const MaxEffort Effort = 1 << 26

// decodingCost is how many examined instructions cost as much as decoding one.
const decodingCost = 16

// spend takes n from the effort, and reports whether so much was left.
func (e *Effort) spend(n uint64) bool {
	if *e < 0 || n > uint64(*e) {
		*e = -1
		return false
	}
	*e -= Effort(n)
	return true
}

// Graph returns the control flow graph of the function of some statements, which must all be in one. The
// result is nil if the function is too large or the effort is spent. code returns up to n bytes of
// x86-64 code at an address.
func Graph(in []dwarf.Statement, code func(addr, n uint64) []byte, left *Effort) *flow.Graph {
	var pieces []flow.Code
	var starts []uint64
	size := uint64(0)
	for _, r := range in[0].Ranges {
		if size += r.High - r.Low; size > flow.MaxCode {
			return nil
		}
		pieces = append(pieces, flow.Code{Addr: r.Low, Bytes: code(r.Low, r.High-r.Low)})
	}
	if !left.spend(decodingCost * size / 4) { // an instruction has some four bytes
		return nil
	}
	for _, s := range in {
		starts = append(starts, addresses(s.Starts)...)
	}
	return flow.New(in[0].Entry, pieces, starts)
}

// Choose returns the starts of a statement that count it: each execution passes one of them, once. They
// are of two sorts:
//
//   - starts that the function's entry reaches without passing another start; the others are later
//     pieces of the statement;
//   - copies of these, which a compiler makes when it unrolls a loop or takes the first turn out of it.
//     A copy begins in the same column, and is known by one of three signs: the compiler marks only
//     beginnings of statements, or the copy has the same instructions, or it is in a loop that the
//     first starts are not in. Compilers that record no columns make no such copies.
//
// Without a graph, or if the effort is spent, Choose returns the lowest start, as debuggers do.
func Choose(g *flow.Graph, s dwarf.Statement, left *Effort) []dwarf.Start {
	return choose(g, statementStarts(s), s.Exact, left)
}

// statementStarts leaves out pieces at which, according to the compiler, no statement begins. If the
// compiler says so of all, none is left out.
func statementStarts(s dwarf.Statement) []dwarf.Start {
	begins := func(x dwarf.Start) bool { return x.Stmt && !(s.Exact && x.Inlined) }
	if !slices.ContainsFunc(s.Starts, begins) {
		return s.Starts
	}
	return slices.DeleteFunc(slices.Clone(s.Starts), func(x dwarf.Start) bool { return !begins(x) })
}

func addresses(starts []dwarf.Start) []uint64 {
	var addrs []uint64
	for _, s := range starts {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

func choose(g *flow.Graph, starts []dwarf.Start, exact bool, left *Effort) []dwarf.Start {
	if len(starts) < 2 {
		return starts
	}
	var first []uint64
	if g != nil && left.spend(uint64(g.Len()+len(starts))) {
		first = g.First(addresses(starts))
	}
	if len(first) == 0 {
		return starts[:1]
	}
	var chosen, rest []dwarf.Start
	for _, s := range starts {
		if _, ok := slices.BinarySearch(first, s.Addr); ok {
			chosen = append(chosen, s)
		} else {
			rest = append(rest, s)
		}
	}
	firsts := slices.Clone(chosen)
	for _, s := range rest {
		if s.AfterOther && left.isCopy(g, s, firsts, first, exact) {
			chosen = append(chosen, s)
		}
	}
	if *left < 0 {
		return starts[:1]
	}
	return chosen
}

// isCopy reports whether a start is a copy of one of the firsts. addresses are those of the firsts.
func (e *Effort) isCopy(g *flow.Graph, s dwarf.Start, firsts []dwarf.Start, addresses []uint64, exact bool) bool {
	column := false
	for _, f := range firsts {
		if s.Column != f.Column || s.Column == 0 {
			continue
		}
		column = true
		if exact && s.Stmt {
			return true
		}
		if !exact && e.spend(1+min(s.End-s.Addr, f.End-f.Addr)) && g.Alike(s.Addr, s.End, f.Addr, f.End) {
			return true
		}
	}
	return column && e.spend(uint64(g.Len()+len(addresses))) && g.LoopsBack(s.Addr, addresses)
}
