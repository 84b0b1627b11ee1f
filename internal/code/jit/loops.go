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
// seem to be a call in the method that has called it, or in one that has nothing to do with it.
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
	m.loops = flow.New(b.base, []flow.Code{{Addr: b.base, Bytes: code[:n]}}, nil).Loops()
	for _, l := range m.loops {
		m.mend(&l)
	}
	if len(m.given) > 0 {
		b.lines = m.lines()
	}
}

// mending is what is found out about one body.
type mending struct {
	body     *Body
	loops    []flow.Loop
	given    map[uint64]*site   // the sites of instructions that are others than HotSpot has noted, by address
	spans    []flow.Span        // these instructions
	straight map[activation]int // see countStraight; nil until it is asked for
}

// activation is a loop in one call of a method, inlined at a place.
type activation struct {
	function *Function
	caller   *site
	loop     int32
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

// mend looks at one loop. It is a loop in one activation, and all of its code is in there, or in what is called from
// there. Certainly wrong are notes of code in no loop, and suspicious are those of a call that is inlined elsewhere.
// What else is noted tells the activation, and code that is noted for something outside of that is given to the code
// before it.
func (m *mending) mend(l *flow.Loop) {
	var foreign, rest []note // in their order
	call := false
	for _, s := range l.Body {
		n := m.at(s.Addr)
		if n.at == nil || slices.Contains(foreign, n) || slices.Contains(rest, n) {
			continue
		}
		call = call || n.call
		if _, in := n.at.innermost(); in && !n.call {
			rest = append(rest, n)
		} else {
			foreign = append(foreign, n)
		}
		if len(foreign)+len(rest) > mostNotes {
			return
		}
	}
	if len(rest) == 0 {
		if owner := m.before(l.Body[0].Addr, foreign); owner != nil && call { // else it is a loop that the VM itself makes
			m.give(l, foreign, owner)
		}
		return
	}
	in, ok := owner(rest)
	if !ok {
		rest, foreign = m.likeliest(rest, foreign)
		if in, ok = owner(rest); !ok {
			return
		}
	}
	foreign = slices.DeleteFunc(foreign, func(n note) bool {
		return n.at.within(func(a activation) bool { return a == in })
	})
	m.give(l, foreign, rest[0].at)
}

// countStraight counts in how many places outside of all loops each loop of bytecodes is noted.
func (m *mending) countStraight() {
	m.straight = make(map[activation]int)
	var looping []uint64 // offsets of instructions
	for _, l := range m.loops {
		for _, s := range l.Body {
			looping = append(looping, s.Addr-m.body.base)
		}
	}
	slices.Sort(looping)
	for i, l := range m.body.lines {
		end := m.body.size
		if i+1 < len(m.body.lines) {
			end = m.body.lines[i+1].offset
		}
		first, _ := slices.BinarySearch(looping, l.offset)
		if in, ok := l.at.innermost(); ok && (first == len(looping) || looping[first] >= end) {
			m.straight[in]++
		}
	}
}

// oftener: what is wrong is noted at this many times as many places outside of loops as what is right, or more.
const oftener = 2

// likeliest leaves those of the notes that are likely to be right, where some are wrong for sure, and adds the others
// to foreign. What HotSpot notes for code without a note is one bytecode. So if one loop of bytecodes has several
// notes, and the others have one each, it is that one. If all have one, those are wrong that are noted at twice as many
// places outside of loops as the rarest: what is wrong is all over the code.
func (m *mending) likeliest(notes, foreign []note) (likely, others []note) {
	of := func(n note) activation {
		in, _ := n.at.innermost()
		return in
	}
	count := make(map[activation]int)
	for _, n := range notes {
		count[of(n)]++
	}
	isLikely := func(n note) bool { return count[of(n)] > 1 }
	if !slices.ContainsFunc(notes, isLikely) {
		if m.straight == nil {
			m.countStraight()
		}
		rarest := slices.MinFunc(notes, func(a, b note) int { return m.straight[of(a)] - m.straight[of(b)] })
		most := oftener * max(1, m.straight[of(rarest)])
		isLikely = func(n note) bool { return m.straight[of(n)] < most }
	}
	for _, n := range notes {
		if isLikely(n) {
			likely = append(likely, n)
		} else {
			foreign = append(foreign, n)
		}
	}
	return likely, foreign
}

// owner is the innermost activation that has all notes in one loop; not ok: there is none.
func owner(notes []note) (in activation, ok bool) {
	notes[0].at.within(func(a activation) bool {
		ok = !slices.ContainsFunc(notes[1:], func(n note) bool {
			return !n.at.within(func(b activation) bool { return a == b })
		})
		in = a
		return ok
	})
	return in, ok
}

// before is what the code before an address is noted for that is noted for something else; nil: there is none.
func (m *mending) before(address uint64, others []note) *site {
	for i := m.lineAt(address); i >= 0; i-- {
		at := m.body.lines[i].at
		if !slices.ContainsFunc(others, func(n note) bool { return n.at == at }) {
			return at
		}
	}
	return nil
}

// give gives the instructions of a loop that are noted for something foreign to the code before them, or to first.
func (m *mending) give(l *flow.Loop, foreign []note, first *site) {
	before := first
	for _, s := range l.Body {
		if is := m.at(s.Addr); !slices.Contains(foreign, is) {
			before = is.at
			continue
		}
		if m.given[s.Addr] == nil {
			m.spans = append(m.spans, s)
		}
		m.given[s.Addr] = before
	}
}

// within goes through the activations that a site is in, the innermost first, until f says that it is enough, and tells
// whether f did.
func (s *site) within(f func(activation) bool) bool {
	for ; s != nil; s = s.caller {
		if s.loop != 0 && f(activation{s.function, s.caller, s.loop}) {
			return true
		}
	}
	return false
}

// innermost is the innermost activation that a site is in; not ok: it is in no loop.
func (s *site) innermost() (in activation, ok bool) {
	ok = s.within(func(a activation) bool {
		in = a
		return true
	})
	return in, ok
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
