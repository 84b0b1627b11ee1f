package dwarf

// codeRanges appends the live ranges of an entry's attributes.
func (d *Data) codeRanges(u *unit, low, high, ranges value, to []Range) []Range {
	switch ranges.class {
	case classList:
		if off, ok := d.listOffset(u, ranges.n); ok {
			return d.rnglist(u, off, to)
		}
		return to
	case classOffset, classConst:
		off := ranges.n
		if u.skeleton != nil {
			off += u.rangesBase
		}
		if u.version >= 5 {
			return d.rnglist(u, off, to)
		}
		return d.oldRanges(u, off, to)
	}
	from, ok := d.addr(u, low)
	if !ok {
		return to
	}
	end, ok := d.addr(u, high)
	if !ok {
		if high.class != classConst {
			return to
		}
		end = from + high.n
	}
	return d.keep(Range{from, end}, to)
}

func (d *Data) keep(r Range, to []Range) []Range {
	if d.live(r) {
		d.keepBytes(16)
		return append(to, r)
	}
	return to
}

// oldRanges reads a list of .debug_ranges (DWARF 2 to 4). The binary also has the lists of split units.
func (d *Data) oldRanges(u *unit, off uint64, to []Range) []Range {
	data := d.main.section("ranges")
	c := at(data, off, uint64(len(data)))
	base := u.low
	selector := ^uint64(0) >> (64 - 8*u.addrSize)
	for c.more() && d.step() {
		low, high := c.sized(u.addrSize), c.sized(u.addrSize)
		switch {
		case c.bad || low == 0 && high == 0:
			return to
		case low == selector:
			base = high
		default:
			to = d.keep(Range{base + low, base + high}, to)
		}
	}
	return to
}

// listOffset returns the offset of range list i of the unit (DW_FORM_rnglistx).
func (d *Data) listOffset(u *unit, i uint64) (uint64, bool) {
	if !u.hasRnglists || i > 1<<32 {
		return 0, false
	}
	data := u.src.section("rnglists")
	c := at(data, u.rnglistsBase+i*uint64(u.offsetSize()), uint64(len(data)))
	off := c.offset(u.is64)
	return u.rnglistsBase + off, !c.bad
}

// The kinds of range list entries: DWARF 5, section 7.25.
const (
	rleEndOfList    = 0x00
	rleBaseAddressx = 0x01
	rleStartxEndx   = 0x02
	rleStartxLength = 0x03
	rleOffsetPair   = 0x04
	rleBaseAddress  = 0x05
	rleStartEnd     = 0x06
	rleStartLength  = 0x07
)

// rnglist reads a list of .debug_rnglists (DWARF 5).
func (d *Data) rnglist(u *unit, off uint64, to []Range) []Range {
	data := u.src.section("rnglists")
	c := at(data, off, uint64(len(data)))
	base := u.low
	for c.more() && d.step() {
		var r Range
		ok := true
		switch c.u8() {
		case rleEndOfList:
			return to
		case rleBaseAddressx:
			base, _ = d.indexed(u, c.uleb())
			continue
		case rleBaseAddress:
			base = c.sized(u.addrSize)
			continue
		case rleStartxEndx:
			var ok2 bool
			r.Low, ok = d.indexed(u, c.uleb())
			r.High, ok2 = d.indexed(u, c.uleb())
			ok = ok && ok2
		case rleStartxLength:
			r.Low, ok = d.indexed(u, c.uleb())
			r.High = r.Low + c.uleb()
		case rleOffsetPair:
			r.Low = base + c.uleb()
			r.High = base + c.uleb()
		case rleStartEnd:
			r.Low, r.High = c.sized(u.addrSize), c.sized(u.addrSize)
		case rleStartLength:
			r.Low = c.sized(u.addrSize)
			r.High = r.Low + c.uleb()
		default:
			return to
		}
		if c.bad {
			return to
		}
		if ok {
			to = d.keep(r, to)
		}
	}
	return to
}
