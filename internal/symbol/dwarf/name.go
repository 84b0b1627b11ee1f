package dwarf

// maxOrigins bounds a chain of abstract origins and specifications. Real ones
// have at most three: an inlined body, its abstract instance, its declaration.
const maxOrigins = 16

// name follows an entry to its function's names.
func (d *Data) name(u *unit, s *scopes, off uint64) (name, linkage string) {
	for range maxOrigins {
		e, ok := d.entryAt(u, off)
		if !ok {
			return name, linkage
		}
		if linkage == "" {
			linkage = text(d.str(u, e.linkage), maxName)
		}
		if name == "" {
			if name = text(d.str(u, e.name), maxName); name != "" && s != nil {
				if q := d.qualifier(u, s, off); q != "" {
					name = q + "::" + name
				}
			}
		}
		if linkage != "" && name != "" {
			return name, linkage
		}
		next := e.abstractOrigin
		if next.class != classRef {
			next = e.specification
		}
		if next.class != classRef {
			return name, linkage
		}
		off = next.n
		if off < u.entries || off >= u.end {
			if u = d.unitOf(off); u == nil {
				return name, linkage
			}
			d.root(u)
			s = nil // the other unit's namespaces have not been read
		}
	}
	return name, linkage
}
