package dwarf

import (
	"cmp"
	"slices"
)

// Statement is the code of one source line in one function, or in one inlined copy of
// a function: what the line was compiled to there. Where the line calls a function that was
// inlined, that code is part of it.
type Statement struct {
	File string
	// Entry and Ranges are those of the function in which the code lies, whole.
	Entry  uint64
	Ranges []Range
	Starts []Start // ascending
	// Exact is set where the compiler marked the beginnings of statements, and of every copy that it made of
	// one, rather than all places where code of another line ends.
	Exact bool
}

// Start is a place where code of the statement begins, after other code or after
// more of its own.
type Start struct {
	Addr   uint64
	End    uint64 // of the line's code that begins there
	Column uint32
	Run    bool // what stands before is not the line's
	// Stmt is set where the compiler says that a statement begins, and not only some code of one;
	// Inlined where that is one of a function that the line calls.
	Stmt, Inlined bool
}

// mark is a row of a line table as it is there.
type mark struct {
	row
	column uint32
	stmt   bool
}

// What is kept of the code of one line, and of one function while it is cut up: more is damage.
const (
	maxStarts    = 1 << 20
	maxStretches = 1 << 20
)

// Statements finds the code of a line of the files that match.
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
	// empty are marks at its beginning that another one took the place of: nothing is left of their
	// statements there but the place.
	empty []mark
}

func (d *Data) statementsOf(u *unit, h *lineHeader, files map[uint32]string, line uint32) []Statement {
	marks, ends := d.marks(h)
	x := d.index(u)
	is := func(file, l uint32) bool { return l == line && files[file] != "" }
	// Of a split unit only the part in the .dwo file says who made it.
	exact := x.unit.gnu && slices.ContainsFunc(marks, func(m mark) bool { return !m.stmt })
	// Functions with code of the line, by their outermost scope.
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

// marks gives all rows of a line table that are about code which exists, ascending by address, in
// the order of the program where addresses are the same; and for each where
// its sequence ends.
func (d *Data) marks(h *lineHeader) (marks []mark, ends []uint64) {
	first := 0
	d.runShowing(h, func(m mark) { marks = append(marks, m) }, func(_ []row, end uint64) {
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
	marks = marks[:first] // what has no end is damaged
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

// outermost gives, of each scope, the function that it was inlined into in however many steps.
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

// rangesOf is all code of functions, what was inlined into them included.
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

// stretches cuts code at every mark and at every scope's limits.
func stretches(x *index, ranges []Range, marks []mark, ends []uint64) []stretch {
	var out []stretch
	for _, r := range ranges {
		i, _ := slices.BinarySearchFunc(marks, r.Low, func(m mark, a uint64) int { return cmp.Compare(m.addr, a) })
		if i == len(marks) || marks[i].addr > r.Low {
			i-- // the one that the range begins in
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

// deepest is how many inlined calls, one in the other, a line is looked for in; compilers make some dozens.
const deepest = 256

// collect adds a stretch of code to the statements that it is part of, and reports whether there are any.
func (x *index) collect(by map[int32]*Statement, s stretch, files map[uint32]string, is func(file, line uint32) bool) (part bool) {
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
			st.Starts = append(st.Starts, Start{Addr: s.Low, Column: column, Run: run, Stmt: begins && s.stmt || empty, Inlined: !own && !empty})
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

// endRuns makes every start of a run end where the run does.
func (s *Statement) endRuns() {
	for i := len(s.Starts) - 2; i >= 0; i-- {
		if !s.Starts[i+1].Run {
			s.Starts[i].End = s.Starts[i+1].End
		}
	}
}

// place adds to the statements the places where the line begins but where nothing is left of it. Which
// copy of a function such a place belongs to is not said: to one that begins there and has code
// elsewhere, best of all.
func (x *index) place(by map[int32]*Statement, places []stretch, files map[uint32]string, is func(file, line uint32) bool) {
	marked := map[int32]bool{} // that have their beginning
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
			s.Starts = append(s.Starts, Start{Addr: p.Low, End: p.Low, Column: m.column, Run: true, Stmt: true})
		}
	}
	for _, s := range by {
		slices.SortStableFunc(s.Starts, func(a, b Start) int { return cmp.Compare(a.Addr, b.Addr) })
	}
}

// beginsAt is the scope among those that may begin where a stretch does which lacks its beginning; the
// stretch's own if none does.
func (x *index) beginsAt(p stretch, lacks func(scope int32) bool) int32 {
	const most = 64 // that begin at one place
	i, _ := slices.BinarySearchFunc(x.before, p.Low, func(b beginning, a uint64) int { return cmp.Compare(b.addr, a) })
	for _, b := range x.before[i:min(i+most, len(x.before))] {
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

// emptyStmt reports whether a statement of the line begins where the stretch does, though the code
// there is another's, and in which column: of several parts of it that begin at one place
// (a loop's counter that is set, and its first test), that of the first.
func (s *stretch) emptyStmt(is func(file, line uint32) bool) (column uint32, ok bool) {
	for _, m := range s.empty {
		if m.stmt && is(m.file, m.line) {
			return m.column, true
		}
	}
	return 0, false
}

// unowned is the line's code that is in no function that debug information knows of:
// assembly, or a unit with lines only. Each sequence of the line table stands for a function.
func unowned(x *index, marks []mark, ends []uint64, files map[uint32]string, is func(file, line uint32) bool) []Statement {
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
