package dwarf

import "math"

// OtherFiles opens the other files to which debug information refers.
type OtherFiles interface {
	// Alternate returns the sections of the file into which dwz moved the common parts of several
	// binaries; nil if it is not found.
	Alternate() Sections
	// Package returns the sections of the binary's .dwp file, nil if there is none.
	Package() Sections
	// Split returns the sections of the .dwo file that the compiler wrote under a name, in a directory:
	// the first that is found and accepted; nil if there is none.
	Split(name, dir string, accept func(Sections) bool) Sections
	// Forget says that the files of Split are no longer used.
	Forget()
}

// maxSplit bounds the .dwo files that are open at once.
const maxSplit = 512

// code returns the unit with the entries of a unit's functions: itself or, of a skeleton, the unit in a
// .dwo file. Without that file it is the skeleton, which has lines, but functions only if the compiler
// repeated them there.
func (d *Data) code(u *unit) *unit {
	d.root(u)
	if !u.splitTried && u.dwoName != "" && d.others != nil && u.src == d.main {
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

// split returns the split unit that belongs to a skeleton, nil if there is none.
func (d *Data) split(u *unit) *unit {
	if !d.packageTried {
		d.packageTried = true
		if all := d.others.Package(); all != nil {
			if d.pack = newPack(newSource(all, ".dwo")); d.pack != nil {
				d.addWork(d.pack.src)
			}
		}
	}
	if d.pack != nil {
		if s := d.pack.unit(u); s != nil {
			return s
		}
	}
	if d.reserve -= splitWork; d.GaveUp() {
		return nil
	}
	var found *unit
	d.others.Split(u.dwoName, u.compDir, func(s Sections) bool {
		src := newSource(s, ".dwo")
		d.addWork(src)
		found = d.belonging(src, u)
		return found != nil
	})
	return found
}

// belonging returns the unit of a .dwo file that has the skeleton's id, nil if there is none.
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

// implicitBases sets the bases that a split unit does not state: each is behind its section's header,
// because the unit is alone in the file. The sections of DWARF 4 have no header.
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

// inherit copies values of the skeleton to its split unit.
func (u *unit) inherit(skeleton *unit) {
	u.skeleton = skeleton
	u.compDir, u.low = skeleton.compDir, skeleton.low
	u.addrBase, u.hasAddrBase = skeleton.addrBase, skeleton.hasAddrBase
	if u.version < 5 {
		u.rangesBase = skeleton.rangesBase
	}
}
