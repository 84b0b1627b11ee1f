package dwarf

import "math"

// pack is a .dwp file: the concatenated sections of many .dwo files, and an index of their parts. See
// DWARF 5, section 7.3.5; GNU's version 2 has other numbers for the sections.
type pack struct {
	src     *source
	version int
	columns []uint32 // kinds of the tables' columns
	units   uint32   // rows of the tables
	slots   uint64
	hashes  cursor // at the hash table
}

// Kinds of columns. Those that are needed have the same numbers in GNU's version 2.
const (
	columnInfo       = 1
	columnAbbrev     = 3
	columnStrOffsets = 6
	columnRnglists   = 8
)

// part is the place of a unit's part of a section.
type part struct{ off, size uint64 }

// newPack reads the index's header. The result is nil if the header is damaged.
func newPack(src *source) *pack {
	// The index has no suffix.
	data := src.from.Section("cu_index", math.MaxUint64)
	c := at(data, 0, uint64(len(data)))
	p := &pack{src: src, version: int(c.u16())}
	c.u16() // padding, or the upper half of GNU's version
	columns := c.u32()
	p.units, p.slots = c.u32(), uint64(c.u32())
	if c.bad || p.version != 2 && p.version != 5 || columns == 0 || columns > 16 ||
		p.slots == 0 || p.slots&(p.slots-1) != 0 || p.slots*12 > c.left() {
		return nil
	}
	p.hashes = c
	// The kinds of the columns are behind hashes and rows.
	c.skip(p.slots * 12)
	for range columns {
		p.columns = append(p.columns, c.u32())
	}
	if c.bad || uint64(p.units)*uint64(columns)*8 > c.left() {
		return nil
	}
	return p
}

const (
	maxProbes = 1 << 12 // slots that are tried; real hash tables are never full
	maxInPart = 1 << 14 // units of one part: of types, and one of code
)

// row returns the row of a unit, counted from 1; 0 if there is none.
func (p *pack) row(id uint64) uint32 {
	mask := p.slots - 1
	step := id>>32&mask | 1
	at := id & mask
	for range min(p.slots, maxProbes) {
		h := p.hashes
		h.skip(at * 8)
		sig := h.u64()
		r := p.hashes
		r.skip(p.slots*8 + at*4)
		row := r.u32()
		if sig == id && row != 0 && row <= p.units {
			return row
		}
		if sig == 0 && row == 0 || h.bad || r.bad {
			return 0
		}
		at = (at + step) & mask
	}
	return 0
}

// part returns the place of a unit's part of a section.
func (p *pack) part(row uint32, column uint32) (part, bool) {
	for i, c := range p.columns {
		if c != column {
			continue
		}
		n := uint64(len(p.columns))
		cell := p.slots*12 + n*4 + (uint64(row-1)*n+uint64(i))*4
		o, s := p.hashes, p.hashes
		o.skip(cell)
		s.skip(cell + uint64(p.units)*n*4)
		x := part{uint64(o.u32()), uint64(s.u32())}
		return x, !o.bad && !s.bad
	}
	return part{}, false
}

// unit returns the unit that belongs to a skeleton, nil if there is none.
func (p *pack) unit(u *unit) *unit {
	row := p.row(u.id)
	if row == 0 || !u.hasID {
		return nil
	}
	info, ok := p.part(row, columnInfo)
	if !ok {
		return nil
	}
	n := 0
	for off := info.off; off < info.off+info.size; {
		s := p.src.unitAt(off)
		if n++; s == nil || n > maxInPart {
			return nil
		}
		off = s.end
		if s.kind == unitType || s.kind == unitSplitType || s.version != u.version || s.version == 5 && s.id != u.id {
			continue
		}
		if !s.hasStrOffsets { // not located yet
			p.locate(s, row)
		}
		return s
	}
	return nil
}

// locate adds the begins of the unit's parts to its offsets.
func (p *pack) locate(u *unit, row uint32) {
	if x, ok := p.part(row, columnAbbrev); ok {
		u.abbrevOff += x.off
	}
	if x, ok := p.part(row, columnStrOffsets); ok {
		u.strOffsetsBase = x.off
	}
	if u.version >= 5 {
		if x, ok := p.part(row, columnRnglists); ok {
			u.rnglistsBase, u.rangesBase = x.off, x.off
		}
	}
	u.implicitBases()
}
