package jit

import (
	"cmp"
	"slices"
	"sort"

	"whatif/internal/code/flow"
)

// mostMended bounds the code of which loops are looked for: more than HotSpot makes of a method.
const mostMended = 128 << 10

// MendLoops gives the code of loops back to the methods that have these loops. It is for Java code on x86-64, and does
// so once. read reads the process's memory, as far as it can; what it cannot read changes nothing.
//
// HotSpot notes for its code which bytecode each place is from. When it has inlined a call late, above all one that
// puts a number into an object (Long.valueOf), it notes that call for all code for which it has no note afterwards,
// such as that of loops that it unrolls (JDK 17 to 25; -XX:-EliminateAutoBox stops that). So a loop in one method can
// seem to be a call in the method that has called it.
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

// mostNotes bounds what a loop is noted for: with more it is one around many calls.
const mostNotes = 100

// note is what an instruction is noted for.
type note struct {
	at   *site
	call bool // see line
}

// at is what an instruction is noted for, or was given.
func (m *mending) at(address uint64) note {
	if s := m.given[address]; s != nil {
		return note{at: s}
	}
	i := m.lineAt(address)
	if i < 0 {
		return note{}
	}
	return note{m.body.lines[i].at, m.body.lines[i].call}
}

// lineAt is the index of the body's line at an address; -1: there is none.
func (m *mending) lineAt(address uint64) int {
	lines := m.body.lines
	return sort.Search(len(lines), func(i int) bool { return lines[i].offset > address-m.body.base }) - 1
}

// mend looks at one loop. A call that is inlined elsewhere has no loop of its own. So if a loop is noted for such a
// call, and all else in it is in one other inlined call, then all of it is.
func (m *mending) mend(l *flow.Loop) {
	var seen []note // in their order
	for _, s := range l.Body {
		if n := m.at(s.Addr); !slices.Contains(seen, n) {
			seen = append(seen, n)
		}
		if len(seen) > mostNotes {
			return
		}
	}
	for _, foreign := range seen {
		if !foreign.call {
			continue
		}
		if owner := m.owner(l, seen, foreign); owner != nil {
			m.give(l, foreign, owner)
			return
		}
	}
}

// owner is something in a loop, or before it, that the loop's foreign code belongs to; nil: that cannot be told.
func (m *mending) owner(l *flow.Loop, seen []note, foreign note) (owner *site) {
	var in func(*site) bool
	for _, s := range seen {
		if s == foreign {
			continue
		}
		if owner == nil {
			owner, in = s.at, insideOf(s.at, foreign.at)
		}
		if in == nil || !in(s.at) {
			return nil // it is a loop around calls
		}
	}
	if owner == nil {
		return m.before(l.Body[0].Addr, foreign.at)
	}
	return owner
}

// before is what the code before an address is noted for that is noted for something else; nil: there is none.
func (m *mending) before(address uint64, other *site) *site {
	for i := m.lineAt(address); i >= 0; i-- {
		if at := m.body.lines[i].at; at != other {
			return at
		}
	}
	return nil
}

// give gives the instructions of a loop that are noted for something foreign to the code before them, or to first.
func (m *mending) give(l *flow.Loop, foreign note, first *site) {
	before := first
	for _, s := range l.Body {
		if is := m.at(s.Addr); is != foreign {
			before = is.at
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
		if n := m.at(m.body.base + o); len(all) == 0 || all[len(all)-1].at != n.at {
			all = append(all, line{offset: o, at: n.at})
		}
	}
	return all
}
