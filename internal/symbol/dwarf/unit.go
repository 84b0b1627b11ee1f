package dwarf

import "slices"

// unit is one unit's header and what its root entry says.
type unit struct {
	off, end  uint64 // in .debug_info, the header included
	version   int
	is64      bool
	kind      uint8 // unit type of DWARF 5, 0 before
	addrSize  int
	abbrevOff uint64
	entries   uint64 // offset of the root entry

	rooted   bool
	compDir  string
	lines    uint64
	hasLines bool
	low      uint64
	ranges   []Range

	strOffsetsBase, addrBase, rnglistsBase uint64
}

// Unit types of DWARF 5, section 7.5.1.
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

// unitAt reads the unit whose header is at off, nil if none can be there.
func (d *Data) unitAt(off uint64) *unit {
	if u, ok := d.units[off]; ok {
		return u
	}
	u := d.header(off)
	if u == nil {
		return nil
	}
	d.units[off] = u
	return u
}

// header reads a unit's header. For a version that is not known it gives a
// unit with version 0, so that the units after it can be reached.
func (d *Data) header(off uint64) *unit {
	info := d.section("info")
	c := at(info, off, uint64(len(info)))
	u := &unit{off: off}
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
			c.u64()
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

// scan finds all units' headers. It touches each header only, but that is a
// page of each unit: done when an address is in no unit of .debug_aranges, or
// a reference leads to another unit.
func (d *Data) scan() []uint64 {
	if d.scanned {
		return d.headers
	}
	d.scanned = true
	size := uint64(len(d.section("info")))
	for off := uint64(0); off < size; {
		u := d.unitAt(off)
		if u == nil {
			break
		}
		d.touched += 4096 // a page of each
		if u.version != 0 {
			d.headers = append(d.headers, off)
		}
		off = u.end // beyond off: the length field itself is counted
	}
	return d.headers
}

// unitOf finds the unit that an entry lies in.
func (d *Data) unitOf(entry uint64) *unit {
	headers := d.scan()
	i, found := slices.BinarySearch(headers, entry)
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	if u := d.unitAt(headers[i]); u != nil && entry >= u.entries && entry < u.end {
		return u
	}
	return nil
}

// root reads the unit's own entry once.
func (d *Data) root(u *unit) {
	if u.rooted || u.version == 0 {
		return
	}
	u.rooted = true
	c := at(d.section("info"), u.entries, u.end)
	code := c.uleb()
	table := d.abbrevTable(u, code)
	ab := table.get(code)
	if ab == nil {
		return
	}
	// The bases come in any order among the attributes that need them.
	var low, high, ranges, compDir, lines value
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
		case attrStmtList:
			lines = v
		case attrStrOffsetsBase:
			u.strOffsetsBase = v.n
		case attrAddrBase:
			u.addrBase = v.n
		case attrRnglistsBase:
			u.rnglistsBase = v.n
		}
	}
	u.lines, u.hasLines = lines.n, lines.class != classNone
	u.compDir = text(d.str(u, compDir), maxPath)
	u.low, _ = d.addr(u, low)
	if ab.tag == tagCompileUnit || ab.tag == tagSkeletonUnit {
		u.ranges = d.codeRanges(u, low, high, ranges, nil)
	}
}

// str is the text of a string attribute.
func (d *Data) str(u *unit, v value) []byte {
	switch v.class {
	case classString:
		return v.s
	case classStrp:
		return stringAt(d.section("str"), v.n)
	case classLine:
		return stringAt(d.section("line_str"), v.n)
	case classStrx:
		if u.strOffsetsBase == 0 || v.n > 1<<32 {
			return nil
		}
		offsets := d.section("str_offsets")
		c := at(offsets, u.strOffsetsBase+v.n*uint64(u.offsetSize()), uint64(len(offsets)))
		off := c.offset(u.is64)
		if c.bad {
			return nil
		}
		return stringAt(d.section("str"), off)
	}
	return nil
}

// addr is the address that an attribute means.
func (d *Data) addr(u *unit, v value) (uint64, bool) {
	switch v.class {
	case classAddr:
		return v.n, true
	case classAddrx:
		return d.indexed(u, v.n)
	}
	return 0, false
}

// indexed is an address of the unit's part of .debug_addr.
func (d *Data) indexed(u *unit, i uint64) (uint64, bool) {
	if u.addrBase == 0 || i > 1<<32 {
		return 0, false
	}
	table := d.section("addr")
	c := at(table, u.addrBase+i*uint64(u.addrSize), uint64(len(table)))
	a := c.sized(u.addrSize)
	return a, !c.bad
}
