package dwarf

import "slices"

// source is a set of sections that refer to each other: the binary's own, those
// of dwz's alternate file, of a .dwo file or of a package of them.
type source struct {
	load     Sections
	suffix   string // of the sections' names, ".dwo" in split files
	sections map[string][]byte
	units    map[uint64]*unit // by offset of the header
	headers  []uint64         // offsets of all headers, ascending
	scanned  bool             // headers is complete
}

func newSource(load Sections, suffix string) *source {
	return &source{load: load, suffix: suffix, sections: map[string][]byte{}, units: map[uint64]*unit{}}
}

// section is a section's bytes, by its name without ".debug_" and ".dwo".
func (s *source) section(name string) []byte {
	data, ok := s.sections[name]
	if !ok {
		data = s.load(name + s.suffix)
		s.sections[name] = data
	}
	return data
}

// worth is the work that the sections may cost in one call: each twice.
func (s *source) worth() int {
	n := 0
	for _, name := range []string{"info", "abbrev", "line", "ranges", "rnglists"} {
		if s.suffix == "" || name == "info" || name == "abbrev" || name == "rnglists" {
			n += 2 * len(s.section(name))
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
	s.units[off] = u
	return u
}

// scan finds all units' headers. It touches each header only, but that is a
// page of each unit: done when an address is in no unit of .debug_aranges, or
// a reference leads to another unit.
func (d *Data) scan(s *source) []uint64 {
	if s.scanned {
		return s.headers
	}
	s.scanned = true
	size := uint64(len(s.section("info")))
	for off := uint64(0); off < size; {
		u := s.unitAt(off)
		if u == nil {
			break
		}
		d.touch(0)
		if u.version != 0 {
			s.headers = append(s.headers, off)
		}
		off = u.end // beyond off: the length field itself is counted
	}
	return s.headers
}

// unitOf finds the unit that an entry lies in.
func (d *Data) unitOf(s *source, entry uint64) *unit {
	headers := d.scan(s)
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
		if load := d.beside.Alternate(); load != nil {
			d.alternate = newSource(load, "")
			d.fuel += d.alternate.worth()
		}
	}
	return d.alternate
}
