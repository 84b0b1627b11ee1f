package dwarf

import (
	"cmp"
	"slices"
	"strings"
)

// scope is a function's body, or the body of an inlined call.
type scope struct {
	entry    uint64 // offset in .debug_info
	parent   int32  // the scope into which it was inlined, -1 for a function
	callFile uint32
	callLine uint32
	low      uint64
}

// enclosing is a namespace or type in which functions are declared.
type enclosing struct {
	name   value
	parent int32
}

// index describes a unit's functions.
type index struct {
	unit    *unit // with the entries: of a .dwo file, if split
	all     []scope
	byPC    owners
	around  []enclosing
	members []member // ascending by entry
	// begins has the inlined calls that, according to the compiler, begin at other code. It is ascending
	// by address.
	begins []beginning
}

// beginning is the address at which a scope begins.
type beginning struct {
	addr  uint64
	scope int32
}

// member is a function without a linkage name inside a namespace or type.
type member struct {
	entry  uint64
	around int32
}

// level describes an entry above the current one in the walk.
type level struct {
	depth  int
	scope  int32
	around int32
}

// scopes reads the unit's functions and inlined calls.
func (d *Data) scopes(u *unit) *index {
	d.root(u)
	var (
		s      = &index{unit: u}
		spans  []span
		levels = []level{{depth: -1, scope: -1, around: -1}}
		ranges []Range
	)
	d.walk(u, func(e *entry) {
		top := levels[len(levels)-1]
		next := level{depth: e.depth, scope: top.scope, around: top.around}
		switch e.tag {
		case tagSubprogram, tagInlinedSubroutine:
			if e.linkage.class == classNone && e.name.class != classNone && top.around >= 0 {
				d.keepBytes(16)
				s.members = append(s.members, member{e.off, top.around})
			}
			if ranges = d.codeRanges(u, e.low, e.high, e.ranges, ranges[:0]); len(ranges) == 0 {
				break
			}
			next.scope = int32(len(s.all))
			sc := scope{entry: e.off, parent: -1, low: ranges[0].Low}
			if e.tag == tagInlinedSubroutine {
				sc.parent = top.scope
				sc.callFile, sc.callLine = clip(e.callFile), clip(e.callLine)
				if at, ok := d.entryPC(u, e, ranges[0].Low); ok && at != ranges[0].Low {
					s.begins = append(s.begins, beginning{at, next.scope})
				}
			}
			s.all = append(s.all, sc)
			d.keepBytes(48 + spanSize*len(ranges))
			for _, r := range ranges {
				spans = append(spans, span{r, next.scope})
			}
		default:
			if !e.hasChildren {
				return
			}
			d.keepBytes(48)
			next.around = int32(len(s.around))
			s.around = append(s.around, enclosing{e.name, top.around})
		}
		if e.hasChildren {
			levels = append(levels, next)
		}
	}, func(depth int) {
		for levels[len(levels)-1].depth >= depth {
			levels = levels[:len(levels)-1]
		}
	})
	s.byPC = flatten(spans)
	slices.SortStableFunc(s.begins, func(a, b beginning) int { return cmp.Compare(a.addr, b.addr) })
	return s
}

// entryPC returns the address at which, according to an entry, its code begins. The attribute is an
// address or, from DWARF 5 on, a distance from the lowest address.
func (d *Data) entryPC(u *unit, e *entry, low uint64) (uint64, bool) {
	if e.entryPC.class == classConst {
		return low + e.entryPC.n, true
	}
	return d.addr(u, e.entryPC)
}

func clip(n uint64) uint32 {
	if n > 1<<31 {
		return 0
	}
	return uint32(n)
}

// qualifier returns the names of the namespaces and types around a function, joined by "::". It is empty
// if there are none or they are not known.
func (d *Data) qualifier(s *index, entry uint64) string {
	i, found := slices.BinarySearchFunc(s.members, entry,
		func(m member, off uint64) int { return cmp.Compare(m.entry, off) })
	if !found {
		return ""
	}
	var names []string
	for a := s.members[i].around; a >= 0 && len(names) < maxOrigins; a = s.around[a].parent {
		name := text(d.str(s.unit, s.around[a].name), maxName)
		if name == "" {
			name = "(anonymous)"
			if s.around[a].name.class == classNone {
				name = "(anonymous namespace)"
			}
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, "::")
}
