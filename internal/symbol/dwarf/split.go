package dwarf

import "math"

// Beside opens the files that debug information refers to beside its own.
type Beside interface {
	// Alternate gives the sections of the file that dwz moved to what
	// several binaries share; nil if it is not found.
	Alternate() Sections
	// Package gives the sections of the binary's .dwp file, nil if there is none.
	Package() Sections
	// Split gives the sections of the .dwo file of a name, as compiled in a
	// directory: the first that is found and accepted; nil if there is none.
	Split(name, dir string, accept func(Sections) bool) Sections
	// Forget says that what Split gave is no longer used.
	Forget()
}

// maxSplit bounds the .dwo files that are open at a time.
const maxSplit = 512

// code is the unit that has the entries of a unit's functions: itself, or the
// one in a .dwo file that it is the skeleton of. Where that is missing, what
// the skeleton has must do: lines, and functions only if the compiler repeated
// them there.
func (d *Data) code(u *unit) *unit {
	d.root(u)
	if !u.splitTried && u.dwoName != "" && d.beside != nil && u.src == d.main {
		u.splitTried = true
		if s := d.split(u); s != nil {
			d.root(s)
			s.inherit(u)
			u.split = s
			d.skeletons = append(d.skeletons, u)
		}
	}
	if u.split != nil {
		return u.split
	}
	return u
}

// split finds the unit that belongs to a skeleton.
func (d *Data) split(u *unit) *unit {
	if !d.packageTried {
		d.packageTried = true
		if all := d.beside.Package(); all != nil {
			if d.pack = newPack(newSource(all, ".dwo")); d.pack != nil {
				d.another(d.pack.src)
			}
		}
	}
	if d.pack != nil {
		if s := d.pack.unit(u); s != nil {
			return s
		}
	}
	if d.tank -= splitWork; d.GaveUp() {
		return nil
	}
	var found *unit
	d.beside.Split(u.dwoName, u.compDir, func(s Sections) bool {
		src := newSource(s, ".dwo")
		d.another(src)
		found = d.belonging(src, u)
		return found != nil
	})
	return found
}

// belonging finds the unit of a .dwo file that carries the skeleton's id.
func (d *Data) belonging(src *source, u *unit) *unit {
	for _, off := range d.scan(src, math.MaxUint64) {
		s := src.unitAt(off)
		if s == nil || s.kind == unitType || s.kind == unitSplitType || s.version != u.version {
			continue
		}
		s.implicitBases()
		if s.version < 5 {
			d.root(s) // the id is an attribute
		}
		if s.id == u.id && s.hasID == u.hasID {
			return s
		}
	}
	return nil
}

// implicitBases sets the bases that a split unit does not state, because it is
// alone: behind the header of each section. DWARF 4's have none.
func (u *unit) implicitBases() {
	u.hasStrOffsets = true
	if u.version < 5 {
		return
	}
	u.hasRnglists = true
	u.strOffsetsBase += 8
	u.rnglistsBase += 12
	if u.is64 {
		u.strOffsetsBase += 8
		u.rnglistsBase += 8
	}
}

// inherit gives a split unit what its skeleton knows.
func (u *unit) inherit(skeleton *unit) {
	u.skeleton = skeleton
	u.compDir, u.low = skeleton.compDir, skeleton.low
	u.addrBase, u.hasAddrBase = skeleton.addrBase, skeleton.hasAddrBase
	if u.version < 5 {
		u.rangesBase = skeleton.rangesBase
	}
}
