package dwarf

// maxOrigins bounds a chain of abstract origins and specifications. Real chains have at most three
// entries: an inlined body, its abstract instance, its declaration.
const maxOrigins = 16

// name returns the names of an entry's function.
func (d *Data) name(u *unit, off uint64) (name, linkage string) {
	for range maxOrigins {
		e, ok := d.entryAt(u, off)
		if !ok {
			return name, linkage
		}
		if linkage == "" {
			linkage = text(d.str(u, e.linkage), maxName)
		}
		if name == "" {
			name = text(d.str(u, e.name), maxName)
			if name != "" && linkage == "" && u.hasNamespaces() {
				if q := d.qualifier(d.index(u.whole()), off); q != "" {
					name = q + "::" + name
				}
			}
		}
		if linkage != "" && name != "" {
			return name, linkage
		}
		next := e.abstractOrigin
		if next.class == classNone {
			next = e.specification
		}
		if u, off = d.referred(u, next); u == nil {
			return name, linkage
		}
	}
	return name, linkage
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
