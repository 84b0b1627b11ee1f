package jit

import (
	"cmp"
	"slices"
	"sort"

	"whatif/internal/code/flow"
)

// mostMended bounds the code of which loops are looked for: more than HotSpot makes of a method.
const mostMended = 256 << 10

// MendLoops gives the code of loops back to the methods that have these loops. It is for Java code on x86-64, and does
// so once. read reads the process's memory, as far as it can; what it cannot read changes nothing.
//
// HotSpot notes for its code which bytecode each place is from. When it has inlined a call late, above all one that
// puts a number into an object (Long.valueOf), it notes that call for all code for which it has no note afterwards,
// such as that of loops that it unrolls (JDK 17 to 25; -XX:-EliminateAutoBox stops that). So a loop in one method can
// seem to be a call in the method that has called it. But such a call cannot be made from within that loop.
func (b *Body) MendLoops(read func(address uint64, code []byte) int) {
	if b.mended || !b.java {
		return
	}
	b.mended = true
	inlined := func(l line) bool { return l.at != nil && l.at.caller != nil }
	if b.size > mostMended || !slices.ContainsFunc(b.lines, inlined) {
		return
	}
	code := make([]byte, b.size)
	n := max(0, min(read(b.base, code), len(code)))
	m := &mending{body: b, given: make(map[uint64]*site)}
	for _, l := range flow.New(b.base, []flow.Code{{Addr: b.base, Bytes: code[:n]}}, nil).Loops() {
		m.mend(&l)
	}
	if len(m.given) > 0 {
		b.lines = m.lines()
	}
}

// mending is what is found out about one body.
type mending struct {
	body  *Body
	given map[uint64]*site // the sites of instructions that are others than HotSpot has noted, by address
	spans []flow.Span      // these instructions
}

// at is the site of an instruction.
func (m *mending) at(address uint64) *site {
	if s := m.given[address]; s != nil {
		return s
	}
	return m.body.noted(address - m.body.base)
}

// noted is the site of an offset as HotSpot has noted it.
func (b *Body) noted(offset uint64) *site {
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].offset > offset })
	if i == 0 {
		return nil
	}
	return b.lines[i-1].at
}

// mend looks at one loop. If the jump back is in an inlined method, and so is all else but what is noted for one place
// outside of it, then that is in the method, too, and counts for the code before it.
func (m *mending) mend(l *flow.Loop) {
	seen := map[*site]bool{}
	for _, s := range l.Body {
		seen[m.at(s.Addr)] = true
	}
	back := m.at(l.Jumps[0])
	for foreign := range seen {
		in := insideOf(back, foreign)
		if in == nil {
			continue
		}
		for s := range seen {
			if s != foreign && !in(s) {
				return // it is a loop around calls
			}
		}
		m.give(l, foreign, back)
		return
	}
}

// give gives the instructions of a loop that have a foreign site to the code before them, or to first.
func (m *mending) give(l *flow.Loop, foreign, first *site) {
	before := first
	for _, s := range l.Body {
		if at := m.at(s.Addr); at != foreign {
			before = at
			continue
		}
		m.given[s.Addr] = before
		m.spans = append(m.spans, s)
	}
}

// insideOf tells which sites are in the same inlined call as a site, if another one is not: it is where the method with
// that call is, or in another call that this method makes. nil: there is no such call.
func insideOf(is, other *site) func(*site) bool {
	a, b := is.chain(), other.chain()
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if same < min(len(a), len(b)) && a[same].function == b[same].function {
		same++ // the method that both are in, at two of its lines
	}
	if same == 0 || same >= len(a) {
		return nil
	}
	caller, callee := a[same-1], a[same].function
	return func(s *site) bool {
		c := s.chain()
		return len(c) > same && c[same-1] == caller && c[same].function == callee
	}
}

// chain is the site with its callers, the outermost first.
func (s *site) chain() (all []*site) {
	for ; s != nil; s = s.caller {
		all = append(all, s)
	}
	slices.Reverse(all)
	return all
}

// lines are the body's with what was given.
func (m *mending) lines() (all []line) {
	var offsets []uint64
	for _, l := range m.body.lines {
		offsets = append(offsets, l.offset)
	}
	for _, s := range m.spans {
		offsets = append(offsets, s.Addr-m.body.base, s.Addr+s.Size-m.body.base)
	}
	slices.SortFunc(offsets, cmp.Compare)
	for _, o := range slices.Compact(offsets) {
		if at := m.at(m.body.base + o); len(all) == 0 || all[len(all)-1].at != at {
			all = append(all, line{offset: o, at: at})
		}
	}
	return all
}
