package dwarf

import (
	"cmp"
	"fmt"
	"path"
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
	name        value
	parent      int32
	isNamespace bool
	function    uint64 // offset of the function in which a type is declared; 0: in none
	file, line  uint32 // where a type is declared
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

// member is a function inside a namespace or type, without a linkage name or without a line of its own.
type member struct {
	entry  uint64
	around int32
}

// level describes an entry above the current one in the walk.
type level struct {
	depth    int
	scope    int32
	around   int32
	function uint64 // offset of the innermost function; 0: none
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
		next := level{depth: e.depth, scope: top.scope, around: top.around, function: top.function}
		switch e.tag {
		case tagSubprogram, tagInlinedSubroutine:
			if e.tag == tagSubprogram {
				next.function = e.off
			}
			if (e.linkage.class == classNone || e.declLine == 0) && e.name.class != classNone && top.around >= 0 {
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
			d.keepBytes(80)
			next.around = int32(len(s.around))
			s.around = append(s.around, enclosing{name: e.name, parent: top.around, isNamespace: e.tag == tagNamespace,
				function: top.function, file: clip(e.declFile), line: clip(e.declLine)})
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

// qualify puts the names of the namespaces and types around a function in front of its name.
func (d *Data) qualify(u *unit, entry uint64, n *naming, depth int) {
	s := d.index(u.whole())
	i, found := slices.BinarySearchFunc(s.members, entry,
		func(m member, off uint64) int { return cmp.Compare(m.entry, off) })
	if !found {
		return
	}
	names := []string{n.name}
	for a, first := s.members[i].around, true; a >= 0 && len(names) < maxOrigins; first = false {
		in := &s.around[a]
		name := text(d.str(s.unit, in.name), maxName)
		a = in.parent
		switch {
		case name != "":
		case in.isNamespace:
			name = "(anonymous namespace)"
		default:
			// Only its place tells such a type from others. Nobody can name it outside of its function, so the
			// function belongs to the name.
			name = d.unnamed(s, in, first && strings.HasPrefix(n.name, "operator()"))
			if n.declLine == 0 && first {
				n.declFile, n.declLine = uint64(in.file), uint64(in.line)
			}
			if in.function != 0 && depth < maxOrigins {
				around := d.names(u, in.function, depth+1)
				if n.within = around.linkage; n.within == "" {
					n.within, name = around.within, around.name+"::"+name
				}
				a = -1
			}
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	n.name = strings.Join(names, "::")
}

// declaredWithType takes the place of a lambda's type for that of its function, which has none.
func (d *Data) declaredWithType(u *unit, entry uint64, n *naming) {
	s := d.index(u.whole())
	i, found := slices.BinarySearchFunc(s.members, entry,
		func(m member, off uint64) int { return cmp.Compare(m.entry, off) })
	if !found {
		return
	}
	if in := &s.around[s.members[i].around]; !in.isNamespace && in.name.class == classNone && in.line > 0 {
		n.unit, n.declFile, n.declLine = u, uint64(in.file), uint64(in.line)
	}
}

// unnamed is how a type without a name is called: as people tell lambdas apart.
func (d *Data) unnamed(s *index, in *enclosing, isLambda bool) string {
	what, place := "unnamed class", ""
	if isLambda {
		what = "lambda"
	}
	if file := d.declaredIn(s.unit, in.file); file != "" && in.line > 0 {
		place = fmt.Sprintf(" at %s:%d", path.Base(file), in.line)
	}
	return "{" + what + place + "}"
}

// declaredIn is the path of a file by the number that a unit's declarations have for it.
func (d *Data) declaredIn(u *unit, file uint32) string {
	u = u.whole()
	if d.root(u); !u.hasLines {
		return ""
	}
	if t := d.lines[u.lines]; t != nil && u.src == d.main {
		return t.path(file)
	}
	key := headerKey{u.src, u.lines}
	h, known := d.headers[key]
	if !known {
		h, _ = d.lineHeader(u)
		d.headers[key] = h
		if h != nil {
			d.weight += 2 * len(h.files)
		}
	}
	if h == nil {
		return ""
	}
	return h.path(uint64(file))
}

// headerKey is where the header of a line table is.
type headerKey struct {
	src *source
	off uint64
}
