package dwarf

import (
	"math"
	"slices"
)

// source is a set of sections that refer to each other: the binary's own, those
// of dwz's alternate file, of a .dwo file or of a package of them.
type source struct {
	from     Sections
	suffix   string // of the sections' names, ".dwo" in split files
	sections map[string]prefix
	units    map[uint64]*unit // by offset of the header
	headers  []uint64         // offsets of headers, ascending
	scanned  uint64           // headers has all before it
	passed   int              // how many units that were
}

// Each unit that is known takes some 300 bytes. Browsers have some fifty thousand. Of a version that is not known
// there may be more: they are passed over.
const (
	maxUnits  = 1 << 18
	maxPassed = 4 * maxUnits
)

// prefix is a section up to an offset.
type prefix struct {
	data []byte // the whole section, but not all of it may have been read
	end  uint64 // where what was read ends
}

func newSource(from Sections, suffix string) *source {
	return &source{from: from, suffix: suffix, sections: map[string]prefix{}, units: map[uint64]*unit{}}
}

// section is a section's bytes, by its name without ".debug_" and ".dwo".
func (s *source) section(name string) []byte { return s.upto(name, math.MaxUint64) }

// upto is section for who reads no further than end.
func (s *source) upto(name string, end uint64) []byte {
	p, known := s.sections[name]
	if known && end <= p.end {
		return p.data
	}
	if data := s.from.Section(name+s.suffix, end); data != nil || !known {
		p = prefix{data, end}
	} else {
		// Damaged: it ends where it could be read to.
		p = prefix{p.data[:min(p.end, uint64(len(p.data)))], math.MaxUint64}
	}
	s.sections[name] = p
	return p.data
}

// worth is the work that the sections may cost in one call: each twice.
func (s *source) worth() int {
	n := 0
	for _, name := range []string{"info", "abbrev", "line", "ranges", "rnglists", "aranges"} {
		if s.suffix == "" || name == "info" || name == "abbrev" || name == "rnglists" {
			n += 2 * len(s.upto(name, 0))
		}
	}
	return n
}

// unitAt reads the unit whose header is at off, nil if none can be there.
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

// scan finds the headers of all units that begin before an offset. It touches each header
// only, but that is a page of each unit: done when an address is in no unit of
// .debug_aranges, or a reference leads to another unit.
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
		s.scanned = u.end // beyond off: the length field itself is counted
	}
	return s.headers
}

// unitOf finds the unit that an entry lies in.
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

// referred finds the unit and offset of the entry that an attribute of u refers
// to: in u itself, elsewhere in its file, or in dwz's alternate file.
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

// alternateOf is the file that attributes in a source may refer to: only those
// of the binary itself do; nil if there is none.
func (d *Data) alternateOf(src *source) *source {
	if src != d.main || d.beside == nil {
		return nil
	}
	if !d.alternateTried {
		d.alternateTried = true
		if other := d.beside.Alternate(); other != nil {
			d.alternate = newSource(other, "")
			d.another(d.alternate)
		}
	}
	return d.alternate
}
