package dwarf

import (
	"cmp"
	"slices"
)

// Statement is the code of one source line in one function, or in one inlined copy of a function. If the
// line calls a function that was inlined, the inlined code is part of the statement.
type Statement struct {
	File string
	// Entry and Ranges are those of the whole function around the code.
	Entry  uint64
	Ranges []Range
	Starts []Start // ascending
	// Exact is set if the compiler marks only the beginnings of statements, and of the copies that it
	// made of one. Otherwise it marks all places at which code of another line ends.
	Exact bool
}

// Start is a place at which code of the statement begins.
type Start struct {
	Addr   uint64
	End    uint64 // of the line's code that begins there
	Column uint32
	// AfterOther is set if the code before belongs to another line, and not to this statement.
	AfterOther bool
	// Stmt is set if, according to the compiler, a statement begins there. Inlined is set if that is a
	// statement of an inlined function that the line calls.
	Stmt, Inlined bool
}

// mark is a row as the line table has it.
type mark struct {
	row
	column uint32
	stmt   bool
}

// Bounds of the code of one line, and of the pieces of one function. Only damaged files have more.
const (
	maxStarts    = 1 << 20
	maxStretches = 1 << 20
)

// Statements returns the code of a line in the files that match.
func (d *Data) Statements(match func(path string) bool, line int) []Statement {
	var found []Statement
	starts := 0
	d.unitsOf(match, func(u *unit, h *lineHeader, files map[uint32]string) bool {
		more := d.statementsOf(u, h, files, uint32(line))
		for i := range more {
			starts += len(more[i].Starts) + len(more[i].Ranges)
		}
		found = append(found, more...)
		return starts < maxStarts
	})
	return found
}

// stretch is code from a mark to the next, in one scope.
type stretch struct {
	Range
	mark
	owner int32
	// empty has the earlier marks at the same address: their statements begin there, but without code.
	empty []mark
}

func (d *Data) statementsOf(u *unit, h *lineHeader, files map[uint32]string, line uint32) []Statement {
	marks, ends := d.marks(h)
	x := d.index(u)
	is := func(file, l uint32) bool { return l == line && files[file] != "" }
	// Of a split unit only the part in the .dwo file names the compiler.
	exact := x.unit.gnu && slices.ContainsFunc(marks, func(m mark) bool { return !m.stmt })
	// The functions with code of the line, by their outermost scope.
	wanted, roots := map[int32]bool{}, x.outermost()
	for _, m := range marks {
		if is(m.file, m.line) {
			if o, _ := x.byPC.find(m.addr); o >= 0 {
				wanted[roots[o]] = true
			} else {
				wanted[-1] = true
			}
		}
	}
	for i, s := range x.all {
		if s.parent >= 0 && is(s.callFile, s.callLine) {
			wanted[roots[i]] = true
		}
	}
	var found []Statement
	if wanted[-1] {
		found = unowned(x, marks, ends, files, is)
	}
	for root, ranges := range x.rangesOf(wanted, roots) {
		by := map[int32]*Statement{}
		var places []stretch
		for _, s := range stretches(x, ranges, marks, ends) {
			if _, empty := s.emptyStmt(is); !x.collect(by, s, files, is) && empty {
				places = append(places, s)
			}
		}
		for _, s := range by {
			s.endRuns()
		}
		x.place(by, places, files, is)
		for _, s := range by {
			s.Entry, s.Ranges, s.Exact = x.all[root].low, ranges, exact
			found = append(found, *s)
		}
	}
	return found
}

// marks returns all rows of a line table for existing code, and the end of each row's sequence. They are
// ascending by address; rows of one address are in the order of the line number program.
func (d *Data) marks(h *lineHeader) (marks []mark, ends []uint64) {
	first := 0
	d.runEach(h, func(m mark) { marks = append(marks, m) }, func(_ []row, end uint64) {
		low := end
		for _, m := range marks[first:] {
			low = min(low, m.addr)
		}
		if !d.live(Range{low, end}) {
			marks = marks[:first]
			return
		}
		for range marks[first:] {
			ends = append(ends, end)
		}
		first = len(marks)
	})
	marks = marks[:first] // a sequence without an end is damaged
	order := make([]int, len(marks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(marks[a].addr, marks[b].addr) })
	sorted, sortedEnds := make([]mark, len(marks)), make([]uint64, len(marks))
	for i, o := range order {
		sorted[i], sortedEnds[i] = marks[o], ends[o]
	}
	return sorted, sortedEnds
}

// outermost returns, for each scope, the function into which it was inlined directly or indirectly.
func (x *index) outermost() []int32 {
	roots := make([]int32, len(x.all))
	for i, s := range x.all {
		roots[i] = int32(i)
		if s.parent >= 0 && int(s.parent) < i {
			roots[i] = roots[s.parent]
		}
	}
	return roots
}

// rangesOf returns all code of the wanted functions, including inlined code.
func (x *index) rangesOf(wanted map[int32]bool, roots []int32) map[int32][]Range {
	of := map[int32][]Range{}
	for i, o := range x.byPC.owner {
		if o < 0 || !wanted[roots[o]] || i+1 >= len(x.byPC.starts) {
			continue
		}
		r := Range{x.byPC.starts[i], x.byPC.starts[i+1]}
		ranges := of[roots[o]]
		if n := len(ranges); n > 0 && ranges[n-1].High == r.Low {
			ranges[n-1].High = r.High
			continue
		}
		of[roots[o]] = append(ranges, r)
	}
	return of
}

// stretches splits code at every mark and at every scope's limits.
func stretches(x *index, ranges []Range, marks []mark, ends []uint64) []stretch {
	var out []stretch
	for _, r := range ranges {
		i, _ := slices.BinarySearchFunc(marks, r.Low, func(m mark, a uint64) int { return cmp.Compare(m.addr, a) })
		if i == len(marks) || marks[i].addr > r.Low {
			i-- // the mark before the range's begin
		}
		for at := r.Low; at < r.High && len(out) < maxStretches; {
			owner, limit := x.byPC.find(at)
			s := stretch{Range: Range{at, min(limit.High, r.High)}, owner: owner}
			for i+1 < len(marks) && marks[i+1].addr <= at {
				if i >= 0 && marks[i].addr == at {
					s.empty = append(s.empty, marks[i])
				}
				i++
			}
			if i+1 < len(marks) {
				s.High = min(s.High, marks[i+1].addr)
			}
			if i >= 0 && marks[i].addr <= at && at < ends[i] {
				s.mark = marks[i]
				s.High = min(s.High, ends[i])
			}
			out = append(out, s)
			at = s.High
		}
	}
	return out
}

// deepest bounds the nesting of inlined calls that are searched for a line. Compilers nest some dozens.
const deepest = 256

// collect adds a stretch of code to the statements to which it belongs, and reports whether there are any.
func (x *index) collect(
	by map[int32]*Statement, s stretch, files map[uint32]string, is func(file, line uint32) bool,
) (part bool) {
	begins := s.addr == s.Low
	column, empty := s.emptyStmt(is)
	if !empty {
		column = s.column
	}
	add := func(scope int32, file uint32, own bool) {
		part = true
		st := by[scope]
		if st == nil {
			st = &Statement{File: files[file]}
			by[scope] = st
		}
		n := len(st.Starts)
		run := n == 0 || st.Starts[n-1].End != s.Low
		if run || begins && own && s.stmt || empty {
			st.Starts = append(st.Starts, Start{
				Addr: s.Low, Column: column, AfterOther: run,
				Stmt: begins && s.stmt || empty, Inlined: !own && !empty,
			})
			n++
		}
		st.Starts[n-1].End = s.High
	}
	file, line := s.file, s.line
	for o, own, n := s.owner, true, 0; n <= deepest; n++ {
		if is(file, line) {
			add(o, file, own)
		}
		if o < 0 || x.all[o].parent < 0 {
			break
		}
		file, line, own = x.all[o].callFile, x.all[o].callLine, false
		o = x.all[o].parent
	}
	return part
}

// endRuns makes every start end where the line's code without a gap ends.
func (s *Statement) endRuns() {
	for i := len(s.Starts) - 2; i >= 0; i-- {
		if !s.Starts[i+1].AfterOther {
			s.Starts[i].End = s.Starts[i+1].End
		}
	}
}

// place adds to the statements the places at which the line begins, but has no code. Debug information
// does not say to which copy of a function such a place belongs. Best is a copy that begins there and has
// code elsewhere.
func (x *index) place(
	by map[int32]*Statement, places []stretch, files map[uint32]string, is func(file, line uint32) bool,
) {
	marked := map[int32]bool{} // scopes with a beginning of the statement
	for scope, s := range by {
		marked[scope] = slices.ContainsFunc(s.Starts, func(s Start) bool { return s.Stmt && !s.Inlined })
	}
	for _, p := range places {
		for _, m := range p.empty {
			if !m.stmt || !is(m.file, m.line) {
				continue
			}
			scope := x.beginsAt(p, func(scope int32) bool { return by[scope] != nil && !marked[scope] })
			marked[scope] = true
			s := by[scope]
			if s == nil {
				s = &Statement{File: files[m.file]}
				by[scope] = s
			}
			s.Starts = append(s.Starts, Start{Addr: p.Low, End: p.Low, Column: m.column, AfterOther: true, Stmt: true})
		}
	}
	for _, s := range by {
		slices.SortStableFunc(s.Starts, func(a, b Start) int { return cmp.Compare(a.Addr, b.Addr) })
	}
}

// beginsAt returns a scope that may begin where a stretch begins, and that lacks a beginning of the
// statement; the stretch's own scope if there is none.
func (x *index) beginsAt(p stretch, lacks func(scope int32) bool) int32 {
	const most = 64 // scopes that begin at one address
	i, _ := slices.BinarySearchFunc(x.begins, p.Low, func(b beginning, a uint64) int { return cmp.Compare(b.addr, a) })
	for _, b := range x.begins[i:min(i+most, len(x.begins))] {
		if b.addr != p.Low {
			break
		}
		if !lacks(b.scope) {
			continue
		}
		for o, n := b.scope, 0; o >= 0 && n <= deepest; n++ {
			if o == p.owner {
				return b.scope
			}
			o = x.all[o].parent
		}
	}
	for o, n := p.owner, 0; o >= 0 && n <= deepest; n++ {
		if lacks(o) {
			return o
		}
		o = x.all[o].parent
	}
	return p.owner
}

// emptyStmt reports whether a statement of the line begins where the stretch begins, although the code
// there is another line's. It also returns the statement's column. Of several parts that begin there (a
// loop's assignment and its first test) the first counts.
func (s *stretch) emptyStmt(is func(file, line uint32) bool) (column uint32, ok bool) {
	for _, m := range s.empty {
		if m.stmt && is(m.file, m.line) {
			return m.column, true
		}
	}
	return 0, false
}

// unowned returns the line's code outside of the functions in the debug information: assembly, or a unit
// with lines only. Each sequence of the line table counts as a function.
func unowned(
	x *index, marks []mark, ends []uint64, files map[uint32]string, is func(file, line uint32) bool,
) []Statement {
	var found []Statement
	for i := 0; i < len(marks); {
		n := i
		for n < len(marks) && ends[n] == ends[i] {
			n++
		}
		r := Range{marks[i].addr, ends[i]}
		if n < len(marks) {
			r.High = min(r.High, marks[n].addr) // sequences that overlap are damaged
		}
		by := map[int32]*Statement{}
		var places []stretch
		for _, s := range stretches(x, []Range{r}, marks, ends) {
			if s.owner >= 0 {
				continue
			}
			if _, empty := s.emptyStmt(is); !x.collect(by, s, files, is) && empty {
				places = append(places, s)
			}
		}
		for _, s := range by {
			s.endRuns()
		}
		x.place(by, places, files, is)
		for _, s := range by {
			s.Entry, s.Ranges = r.Low, []Range{r}
			found = append(found, *s)
		}
		i = n
	}
	return found
}
