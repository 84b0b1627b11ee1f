package dwarf

// index is what is kept of a unit that an address was looked up in.
type index struct {
	scopes scopes
	lines  *lineTable
}

// Lookup gives the inline chain at an address, innermost first: the first
// call's place is the instruction's own line, each following one's is where
// the one before it was inlined. It is empty if the debug information does not
// cover the address. A single call without a name means that the line is known
// and the function is not: assembly, or a unit with lines only.
func (d *Data) Lookup(pc uint64) []Call {
	d.refuel()
	u := d.unitFor(pc)
	if u == nil || u.version == 0 {
		return nil
	}
	x := d.index(u)
	owner, stretch := x.scopes.byPC.find(pc)
	if owner < 0 {
		stretch = Range{0, ^uint64(0)}
	}
	var at Call
	if x.lines != nil {
		at.File, at.Line = x.lines.place(pc, stretch, d.KeepLineZero)
	}
	if owner < 0 {
		if at.File == "" {
			return nil
		}
		return []Call{at}
	}
	var chain []Call
	for owner >= 0 {
		s := &x.scopes.all[owner]
		at.Name, at.Linkage = d.name(u, &x.scopes, s.entry)
		at.Low = s.low
		chain = append(chain, at)
		owner = s.parent
		at = Call{Line: int(s.callLine)}
		if x.lines != nil {
			at.File = x.lines.path(s.callFile)
		}
	}
	return chain
}

// index reads the unit once.
func (d *Data) index(u *unit) *index {
	if x, ok := d.indexes[u.off]; ok {
		return x
	}
	if d.weight > maxWeight {
		d.forget()
	}
	d.touched += u.end - u.off
	x := &index{scopes: d.scopes(u), lines: d.lineTable(u)}
	d.indexes[u.off] = x
	s := &x.scopes
	d.weight += 2*len(s.all) + len(s.byPC.starts) + len(s.members) + 3*len(s.around)
	return x
}

// RowBefore gives the start of the line table's row that covers an address: an
// instruction begins there.
func (d *Data) RowBefore(pc uint64) (addr uint64, ok bool) {
	d.refuel()
	u := d.unitFor(pc)
	if u == nil || u.version == 0 {
		return 0, false
	}
	x := d.index(u)
	if x.lines == nil {
		return 0, false
	}
	i, _ := x.lines.find(pc)
	if i < 0 {
		return 0, false
	}
	return x.lines.rows[i].addr, true
}
