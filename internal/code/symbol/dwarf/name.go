package dwarf

import "strings"

// maxOrigins bounds a chain of abstract origins and specifications. Real chains have at most three
// entries: an inlined body, its abstract instance, its declaration.
const maxOrigins = 16

// naming is what names a function.
type naming struct {
	name, linkage string
	// within is the linkage name of the function in which an unnamed type around this one is declared: the name
	// begins inside of that.
	within             string
	unit               *unit // of declFile
	declFile, declLine uint64
}

// names returns the names of an entry's function. depth is how many functions are around it, as far as they are named
// for its sake.
func (d *Data) names(u *unit, off uint64, depth int) (n naming) {
	for range maxOrigins {
		e, ok := d.entryAt(u, off)
		if !ok {
			return n
		}
		if n.declLine == 0 && e.declLine > 0 {
			n.declLine = e.declLine
		}
		if n.declFile == 0 && e.declFile > 0 {
			n.unit, n.declFile = u, e.declFile
		}
		if n.linkage == "" {
			n.linkage = text(d.str(u, e.linkage), maxName)
		}
		if n.name == "" {
			n.name = text(d.str(u, e.name), maxName)
			if n.linkage != "" && n.declLine == 0 && strings.HasPrefix(n.name, "operator()") {
				d.declaredWithType(u, off, &n)
			}
			if n.name != "" && n.linkage == "" && u.hasNamespaces() {
				d.qualify(u, off, &n, depth)
				if n.unit == nil {
					n.unit = u
				}
			}
		}
		if n.linkage != "" && n.name != "" {
			return n
		}
		next := e.abstractOrigin
		if next.class == classNone {
			next = e.specification
		}
		if u, off = d.referred(u, next); u == nil {
			return n
		}
	}
	return n
}

// call is an entry's function, without a line.
func (d *Data) call(x *index, off uint64) Call {
	n := d.names(x.unit, off, 0)
	c := Call{Name: n.name, Linkage: n.linkage, Within: n.within}
	if n.unit != nil && n.declLine > 0 {
		c.DeclFile, c.DeclLine = d.declaredIn(n.unit, clip(n.declFile)), int(clip(n.declLine))
	}
	return c
}

// whole returns the unit under which the index of a unit is kept: a split unit's skeleton.
func (u *unit) whole() *unit {
	if u.skeleton != nil {
		return u.skeleton
	}
	return u
}

// hasNamespaces reports whether the unit's language has namespaces or classes. Without them, a name
// needs no qualifier, so the unit need not be read for it.
func (u *unit) hasNamespaces() bool {
	switch u.language {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x16, 0x8001: // C89, C, C99, C11, C17, Go, assembly
		return false
	}
	return true
}
