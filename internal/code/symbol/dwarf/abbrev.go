package dwarf

// abbrev describes the encoding of one kind of entries.
type abbrev struct {
	tag      uint32
	children bool
	attrs    []attrSpec
	// fixed is the size of the attributes if none is wanted and the size of each is fixed; else -1. It
	// serves to skip types and variables, which most entries of a unit describe.
	fixed int32
}

type attrSpec struct {
	attr, form uint32
	implicit   int64 // the value itself, for DW_FORM_implicit_const
}

// abbrevs maps abbreviation codes to abbreviations. Compilers number them from 1 without gaps, so a slice
// is nearly always enough.
type abbrevs struct {
	dense  []abbrev
	sparse map[uint64]abbrev
}

func (a *abbrevs) get(code uint64) *abbrev {
	if code-1 < uint64(len(a.dense)) {
		return &a.dense[code-1]
	}
	if ab, ok := a.sparse[code]; ok {
		return &ab
	}
	return nil
}

// abbrevKey has all that a table's meaning depends on: units of different formats may share one table.
type abbrevKey struct {
	src      *source
	off      uint64
	is64     bool
	version  int
	addrSize int
}

// abbrevTable reads the unit's table, up to the abbreviation with the code only (0: all). It keeps whole
// tables.
func (d *Data) abbrevTable(u *unit, only uint64) abbrevs {
	key := abbrevKey{u.src, u.abbrevOff, u.is64, u.version, u.addrSize}
	if t, ok := d.abbrevs[key]; ok {
		return t
	}
	data := u.src.section("abbrev")
	c := at(data, u.abbrevOff, uint64(len(data)))
	var t abbrevs
	attrs := 0
	for c.more() && d.step() {
		code := c.uleb()
		if code == 0 || c.bad {
			break
		}
		ab := readAbbrev(&c, u)
		d.spend(len(ab.attrs))
		d.keepBytes(64 + 24*len(ab.attrs))
		if c.bad {
			break
		}
		attrs += len(ab.attrs)
		if code == uint64(len(t.dense))+1 {
			t.dense = append(t.dense, ab)
		} else {
			if t.sparse == nil {
				t.sparse = map[uint64]abbrev{}
			}
			t.sparse[code] = ab
		}
		if code == only {
			return t
		}
	}
	if only == 0 {
		d.abbrevs[key] = t
		d.weight += 8*(len(t.dense)+len(t.sparse)) + attrs
	}
	return t
}

// maxAttrs bounds the attributes of an entry. Compilers write fewer than fifty.
const maxAttrs = 1024

func readAbbrev(c *cursor, u *unit) abbrev {
	ab := abbrev{tag: uint32(c.uleb()), children: c.u8() != 0}
	if ab.children && isEnclosing(ab.tag) {
		ab.fixed = -1 // such an entry is wanted even without a name
	}
	for !c.bad {
		s := attrSpec{attr: uint32(c.uleb()), form: uint32(c.uleb())}
		if s.form == formImplicitConst {
			s.implicit = c.sleb()
		}
		if s.attr == 0 && s.form == 0 {
			break
		}
		if len(ab.attrs) == maxAttrs {
			c.bad = true
			break
		}
		ab.attrs = append(ab.attrs, s)
		if wanted(s.attr, ab.tag) || ab.fixed < 0 {
			ab.fixed = -1
			continue
		}
		if n := fixedSize(s.form, u); n < 0 {
			ab.fixed = -1
		} else {
			ab.fixed += int32(n)
		}
	}
	return ab
}
