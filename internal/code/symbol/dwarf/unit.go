package dwarf

import "bytes"

// unit has a unit's header, and values of its root entry.
type unit struct {
	src       *source
	off, end  uint64 // in .debug_info, the header included
	version   int
	is64      bool
	kind      uint8 // unit type of DWARF 5, 0 before
	addrSize  int
	abbrevOff uint64
	entries   uint64 // offset of the root entry

	rooted   bool
	tag      uint32
	language uint64
	gnu      bool // compiled by GCC
	compDir  string
	lines    uint64
	hasLines bool
	low      uint64
	ranges   []Range

	// The bases of indices, and whether they are known: 0 may be right.
	strOffsetsBase, addrBase, rnglistsBase  uint64
	hasStrOffsets, hasAddrBase, hasRnglists bool
	// rangesBase is the base of a split unit's range lists.
	rangesBase uint64

	// A skeleton has the name of the .dwo file with its entries, and the id of the unit there.
	dwoName    string
	id         uint64
	hasID      bool
	split      *unit // of a skeleton, if found
	splitTried bool
	skeleton   *unit // of a split unit
}

// The unit types of DWARF 5, section 7.5.1.
const (
	unitType         = 0x02
	unitSkeleton     = 0x04
	unitSplitCompile = 0x05
	unitSplitType    = 0x06
)

func (u *unit) offsetSize() int {
	if u.is64 {
		return 8
	}
	return 4
}

// longestHeader is the size of the longest unit header: length, version, type, address size, offset of
// the abbreviations, a type's signature and offset.
const longestHeader = 12 + 2 + 1 + 1 + 8 + 8 + 8

// header reads a unit's header. A unit of an unknown version has the version 0, so that later units can
// be reached.
func (s *source) header(off uint64) *unit {
	info := s.upto("info", off+longestHeader)
	c := at(info, off, uint64(len(info)))
	u := &unit{src: s, off: off}
	n, is64 := c.length()
	if c.bad || n > c.left() {
		return nil
	}
	u.is64, u.end = is64, c.off+n
	c = at(info, c.off, u.end)
	version := int(c.u16())
	switch {
	case version >= 2 && version <= 4:
		u.abbrevOff = c.offset(is64)
		u.addrSize = int(c.u8())
	case version == 5:
		u.kind = c.u8()
		u.addrSize = int(c.u8())
		u.abbrevOff = c.offset(is64)
		switch u.kind {
		case unitSkeleton, unitSplitCompile:
			u.id, u.hasID = c.u64(), true
		case unitType, unitSplitType:
			c.u64()
			c.offset(is64)
		}
	default:
		return u
	}
	if c.bad || u.addrSize != 4 && u.addrSize != 8 {
		return u
	}
	u.version, u.entries = version, c.off
	return u
}

// root reads the unit's root entry, once.
func (d *Data) root(u *unit) {
	if u.rooted || u.version == 0 {
		return
	}
	u.rooted = true
	c := at(u.src.upto("info", u.end), u.entries, u.end)
	code := c.uleb()
	table := d.abbrevTable(u, code)
	ab := table.get(code)
	if ab == nil {
		return
	}
	u.tag = ab.tag
	// Bases may come after the attributes that need them.
	var low, high, ranges, compDir, producer, lines, dwoName value
	for _, s := range ab.attrs {
		v := u.value(&c, s)
		if c.bad {
			return
		}
		switch s.attr {
		case attrLowPC:
			low = v
		case attrHighPC:
			high = v
		case attrRanges:
			ranges = v
		case attrCompDir:
			compDir = v
		case attrProducer:
			producer = v
		case attrStmtList:
			lines = v
		case attrLanguage:
			u.language = v.n
		case attrStrOffsetsBase:
			u.strOffsetsBase, u.hasStrOffsets = v.n, true
		case attrAddrBase, attrGNUAddrBase:
			u.addrBase, u.hasAddrBase = v.n, true
		case attrRnglistsBase:
			u.rnglistsBase, u.hasRnglists = v.n, true
		case attrGNURangesBase:
			u.rangesBase = v.n
		case attrDwoName, attrGNUDwoName:
			dwoName = v
		case attrGNUDwoID:
			u.id, u.hasID = v.n, true
		}
	}
	u.dwoName = text(d.str(u, dwoName), maxPath)
	u.lines, u.hasLines = lines.n, lines.class != classNone
	u.compDir = text(d.str(u, compDir), maxPath)
	u.gnu = bytes.HasPrefix(d.str(u, producer), []byte("GNU "))
	u.low, _ = d.addr(u, low)
	if ab.tag == tagCompileUnit || ab.tag == tagSkeletonUnit {
		u.ranges = d.codeRanges(u, low, high, ranges, nil)
	}
}

// longestString bounds the bytes of a string that are read: names and paths are cut anyway.
const longestString = max(maxName, maxPath) + 1

// str returns the text of a string attribute.
func (d *Data) str(u *unit, v value) []byte {
	if v.class >= classStrp {
		u.src.from.Touch(0) // a unit's strings are all over the section
	}
	switch v.class {
	case classString:
		return v.s
	case classStrp:
		return stringAt(u.src.upto("str", v.n+longestString), v.n)
	case classAlternateStrp:
		if alternate := d.alternateOf(u.src); alternate != nil {
			return stringAt(alternate.section("str"), v.n)
		}
	case classLine:
		return stringAt(u.src.upto("line_str", v.n+longestString), v.n)
	case classStrx:
		if !u.hasStrOffsets || v.n > 1<<32 {
			return nil
		}
		offsets := u.src.section("str_offsets")
		c := at(offsets, u.strOffsetsBase+v.n*uint64(u.offsetSize()), uint64(len(offsets)))
		off := c.offset(u.is64)
		if c.bad {
			return nil
		}
		return stringAt(u.src.upto("str", off+longestString), off)
	}
	return nil
}

// addr returns the address in an attribute.
func (d *Data) addr(u *unit, v value) (uint64, bool) {
	switch v.class {
	case classAddr:
		return v.n, true
	case classAddrx:
		return d.indexed(u, v.n)
	}
	return 0, false
}

// indexed returns address i of the unit's part of .debug_addr. The binary also has the parts of split
// units.
func (d *Data) indexed(u *unit, i uint64) (uint64, bool) {
	if !u.hasAddrBase || i > 1<<32 {
		return 0, false
	}
	table := d.main.section("addr")
	c := at(table, u.addrBase+i*uint64(u.addrSize), uint64(len(table)))
	a := c.sized(u.addrSize)
	return a, !c.bad
}
