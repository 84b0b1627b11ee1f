package dwarf

import (
	"math"
	"slices"
)

// source is a set of sections that refer to each other: those of the binary, of dwz's alternate file, of
// a .dwo file, or of a package of such files.
type source struct {
	from     Sections
	suffix   string // of the sections' names, ".dwo" in split files
	sections map[string]prefix
	units    map[uint64]*unit // by offset of the header
	headers  []uint64         // offsets of headers, ascending
	scanned  uint64           // headers is complete up to this offset
	passed   int              // units up to there
}

// Bounds of the units. A unit takes some 300 bytes, and browsers have some fifty thousand units. Units of
// an unknown version are skipped; there may be more of them.
const (
	maxUnits  = 1 << 18
	maxPassed = 4 * maxUnits
)

// prefix is a section that is read up to an offset.
type prefix struct {
	data []byte // the whole section; bytes from end on may not be read yet
	end  uint64
}

func newSource(from Sections, suffix string) *source {
	return &source{from: from, suffix: suffix, sections: map[string]prefix{}, units: map[uint64]*unit{}}
}

// section returns a section's bytes. The name lacks ".debug_" and ".dwo".
func (s *source) section(name string) []byte { return s.upto(name, math.MaxUint64) }

// upto is section for a caller that reads no bytes from end on.
func (s *source) upto(name string, end uint64) []byte {
	p, known := s.sections[name]
	if known && end <= p.end {
		return p.data
	}
	if data := s.from.Section(name+s.suffix, end); data != nil || !known {
		p = prefix{data, end}
	} else {
		// The section is damaged: it ends with the bytes that were read.
		p = prefix{p.data[:min(p.end, uint64(len(p.data)))], math.MaxUint64}
	}
	s.sections[name] = p
	return p.data
}

// work returns the steps that a call may spend on the sections: twice their size.
func (s *source) work() int {
	n := 0
	for _, name := range []string{"info", "abbrev", "line", "ranges", "rnglists", "aranges"} {
		if s.suffix == "" || name == "info" || name == "abbrev" || name == "rnglists" {
			n += 2 * len(s.upto(name, 0))
		}
	}
	return n
}

// unitAt returns the unit with the header at off, nil if there is none.
func (s *source) unitAt(off uint64) *unit {
	if u, ok := s.units[off]; ok {
		return u
	}
	u := s.header(off)
	if u == nil {
		return nil
	}
	if u.version != 0 {
		if len(s.units) >= maxUnits {
			return nil
		}
		s.units[off] = u
	}
	return u
}

// scan returns the offsets of all units that begin before an offset. It reads only headers, but still a
// page of each unit. So it is used only if an address is in no unit of .debug_aranges, or if a reference
// leads to another unit.
func (d *Data) scan(s *source, end uint64) []uint64 {
	for s.scanned < min(end, uint64(len(s.upto("info", 0)))) {
		off := s.scanned
		u := s.unitAt(off)
		if s.passed++; u == nil || s.passed > maxPassed {
			s.scanned = math.MaxUint64
			break
		}
		s.from.Touch(0)
		if u.version != 0 {
			s.headers = append(s.headers, off)
		}
		s.scanned = u.end // above off, as the length field counts
	}
	return s.headers
}

// unitOf returns the unit that contains an entry, nil if there is none.
func (d *Data) unitOf(s *source, entry uint64) *unit {
	headers := d.scan(s, entry+1)
	i, found := slices.BinarySearch(headers, entry)
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	if u := s.unitAt(headers[i]); u != nil && entry >= u.entries && entry < u.end {
		return u
	}
	return nil
}

// referred returns the unit and offset of the entry to which an attribute of u refers: in u itself, in
// another unit of its file, or in dwz's alternate file.
func (d *Data) referred(u *unit, v value) (*unit, uint64) {
	src := u.src
	switch v.class {
	case classRef:
		if v.n >= u.entries && v.n < u.end {
			return u, v.n
		}
	case classAlternate:
		if src = d.alternateOf(src); src == nil {
			return nil, 0
		}
	default:
		return nil, 0
	}
	to := d.unitOf(src, v.n)
	if to != nil {
		d.root(to)
	}
	return to, v.n
}

// alternateOf returns dwz's alternate file, nil if there is none. Only the binary's own attributes may
// refer to it.
func (d *Data) alternateOf(src *source) *source {
	if src != d.main || d.others == nil {
		return nil
	}
	if !d.alternateTried {
		d.alternateTried = true
		if other := d.others.Alternate(); other != nil {
			d.alternate = newSource(other, "")
			d.addWork(d.alternate)
		}
	}
	return d.alternate
}
