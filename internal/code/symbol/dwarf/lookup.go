package dwarf

// Lookup returns the inline chain at an address, innermost first. The line of the first call is the
// instruction's own; the line of each further call is where the one before it was inlined. The chain is
// empty if the debug information does not cover the address. A single call without a name means that the
// line is known, but not the function: assembly, or a unit with lines only.
func (d *Data) Lookup(pc uint64) []Call {
	d.trim()
	d.startCall()
	u := d.unitFor(pc)
	if u == nil || u.version == 0 {
		return nil
	}
	x, lines := d.index(u), d.lineTable(u)
	owner, stretch := x.byPC.find(pc)
	if owner < 0 {
		stretch = Range{0, ^uint64(0)}
	}
	var at Call
	if lines != nil {
		at.File, at.Line = d.place(lines, pc, stretch)
	}
	if owner < 0 {
		if at.File == "" {
			return nil
		}
		return []Call{at}
	}
	var chain []Call
	for owner >= 0 && d.step() {
		s := &x.all[owner]
		c := d.call(x, s.entry)
		c.File, c.Line, c.Low = at.File, at.Line, s.low
		d.keepBytes(len(c.Name) + len(c.Linkage) + len(c.Within) + len(c.File) + len(c.DeclFile))
		chain = append(chain, c)
		owner = s.parent
		at = Call{Line: int(s.callLine)}
		if lines != nil {
			at.File = lines.path(s.callFile)
		}
	}
	return chain
}

// index reads the unit's functions, once.
func (d *Data) index(u *unit) *index {
	if x, ok := d.indexes[u]; ok {
		return x
	}
	code := d.code(u)
	code.src.from.Touch(code.end - code.off)
	x := d.scopes(code)
	d.indexes[u] = x
	d.weight += 2*len(x.all) + len(x.byPC.starts) + len(x.members) + len(x.begins) + 3*len(x.around)
	return x
}

// RowBefore returns the start of the line table's row that covers an address. An instruction begins
// there.
func (d *Data) RowBefore(pc uint64) (addr uint64, ok bool) {
	d.trim()
	d.startCall()
	u := d.unitFor(pc)
	if u == nil || u.version == 0 {
		return 0, false
	}
	lines := d.lineTable(u)
	if lines == nil {
		return 0, false
	}
	i, _ := lines.find(pc)
	if i < 0 {
		return 0, false
	}
	return lines.rows[i].addr, true
}
