package dwarf

// entry holds the wanted parts of a debugging information entry.
type entry struct {
	off   uint64
	tag   uint32
	depth int // 0 for the root

	name, linkage                 value
	low, high, ranges, entryPC    value
	abstractOrigin, specification value
	callFile, callLine            uint64
	declFile, declLine            uint64
	sibling                       uint64
	hasChildren                   bool
}

// maxDepth bounds the nesting of entries. Compilers nest them less than a hundred deep.
const maxDepth = 4096

// walk reads the unit's entries in order. It calls visit for subprograms, inlined calls, and enclosing
// namespaces and types. It calls leave with an entry's depth, for entries of any kind, when all below
// the entry is read. Damage ends the walk early.
func (d *Data) walk(u *unit, visit func(e *entry), leave func(depth int)) {
	table := d.abbrevTable(u, 0)
	c := at(u.src.upto("info", u.end), u.entries, u.end)
	var e entry
	for depth := 0; c.more() && d.step(); {
		off := c.off
		code := c.uleb()
		if code == 0 {
			depth--
			if depth <= 0 {
				return
			}
			leave(depth)
			continue
		}
		ab := table.get(code)
		if ab == nil {
			return
		}
		if ab.fixed >= 0 {
			c.skip(uint64(ab.fixed))
		} else {
			e = entry{off: off, tag: ab.tag, depth: depth, hasChildren: ab.children}
			d.spend(len(ab.attrs) / 8)
			u.attributes(&c, ab, &e)
			if c.bad {
				return
			}
			switch ab.tag {
			case tagSubprogram, tagInlinedSubroutine,
				tagNamespace, tagStructureType, tagClassType, tagUnionType, tagInterfaceType:
				visit(&e)
			default:
				if ab.children && e.sibling > c.off && e.sibling <= u.end {
					c.off = e.sibling
					continue
				}
			}
		}
		if ab.children {
			depth++
			if depth > maxDepth {
				return
			}
		} else if depth == 0 {
			return
		}
	}
}

// attributes reads the wanted attributes of an entry into e.
func (u *unit) attributes(c *cursor, ab *abbrev, e *entry) {
	for i := range ab.attrs {
		s := ab.attrs[i]
		if !wanted(s.attr, ab.tag) {
			u.skipForm(c, s.form)
			continue
		}
		v := u.value(c, s)
		switch s.attr {
		case attrName:
			e.name = v
		case attrLinkageName, attrMIPSLinkage:
			e.linkage = v
		case attrLowPC:
			e.low = v
		case attrHighPC:
			e.high = v
		case attrRanges:
			e.ranges = v
		case attrEntryPC:
			e.entryPC = v
		case attrAbstractOrigin:
			e.abstractOrigin = v
		case attrSpecification:
			e.specification = v
		case attrCallFile:
			e.callFile = v.n
		case attrCallLine:
			e.callLine = v.n
		case attrDeclFile:
			e.declFile = v.n
		case attrDeclLine:
			e.declLine = v.n
		case attrSibling:
			if v.class == classRef {
				e.sibling = v.n
			}
		}
	}
}

// entryAt reads the entry at an offset.
func (d *Data) entryAt(u *unit, off uint64) (e entry, ok bool) {
	c := at(u.src.upto("info", u.end), off, u.end)
	code := c.uleb()
	table := d.abbrevTable(u, 0)
	ab := table.get(code)
	if c.bad || ab == nil {
		return e, false
	}
	e = entry{off: off, tag: ab.tag}
	u.attributes(&c, ab, &e)
	return e, !c.bad
}
