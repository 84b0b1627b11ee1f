package swift

// genericStep executes the operators that declare generic parameters. They are not part of a name.
func (p *parser) genericStep(c byte) *node {
	switch c {
	case 'R':
		return p.requirement()
	case 'r': // their number, for each level of types
		for !p.nextIs('l') {
			if !p.nextIs('z') {
				if _, ok := p.index(); !ok {
					return nil
				}
			}
		}
	}
	for p.pop(requirement) != nil {
	}
	return of(signature, "")
}

// requirement takes a protocol or a type off the stack. For a requirement of a parameter's associated type it also
// takes the names that lead from the parameter to that type.
func (p *parser) requirement() *node {
	c := p.peek()
	switch c {
	case 'i', 'I', 'j', 'J':
		p.pos++
		if _, ok := p.index(); !ok {
			return nil
		}
	case 'V', 'v', 'c', 'C', 'b', 'B', 't', 'T', 's', 'S', 'm', 'M', 'l', 'L', 'p', 'P', 'Q', 'h':
		p.pos++
	default:
		c = 0
	}
	switch c { // the type that must meet the requirement
	case 'c', 't', 'm', 'p', 'j':
		base := p.parameter()
		if p.remember(of(typ, "%.%", base, p.associated())) == nil {
			return nil
		}
	case 'C', 'T', 'M', 'P', 'J':
		base := p.parameter()
		names, ok := p.list(p.associated)
		if !ok || base == nil || len(names) == 0 {
			return nil
		}
		p.remember(of(typ, placeholders(len(names)+1, "."), append([]*node{base}, names...)...))
	case 'B', 'S', 'L', 'Q', 'I':
		if p.pop(typ) == nil {
			return nil
		}
	default:
		if p.parameter() == nil {
			return nil
		}
	}
	switch c { // the requirement
	case 0, 'p', 'P', 'Q':
		return of(requirement, "%", p.protocol())
	case 'v', 'i', 'I', 'j', 'J':
		return of(requirement, "")
	case 'l', 'L', 'm', 'M':
		return p.layout()
	}
	return of(requirement, "%", p.pop(typ))
}

// layout reads a requirement for a type's layout in memory.
func (p *parser) layout() *node {
	numbers := 0
	switch p.next() {
	case 'U', 'R', 'N', 'C', 'D', 'T', 'B':
	case 'e', 'm', 'S':
		numbers = 1
	case 'E', 'M':
		numbers = 2
	default:
		return nil
	}
	for range numbers {
		if _, ok := p.index(); !ok {
			return nil
		}
	}
	return of(requirement, "")
}

// conformanceStep executes the operators for a type's conformance to a protocol. They are not part of a name.
func (p *parser) conformanceStep(c byte) *node {
	if c == 'g' {
		_, ok := p.index()
		if p.pop(conformance) == nil || !ok {
			return nil
		}
		return of(retroactive, "")
	}
	switch c = p.next(); c {
	case 'P', 'p':
		proto := p.protocol()
		if proto == nil {
			return nil
		}
		return of(mark, "H")
	case 'C': // of a type, with the conformances on which it depends
		if _, ok := p.list(func() *node { return p.pop(conformance) }); !ok {
			return nil
		}
		if !p.popMark("H") && (p.module() == nil || p.protocol() == nil) {
			return nil
		}
		return of(conformance, "%", p.pop(typ))
	case 'D', 'I', 'A': // of a parameter; inherited from; of an associated type
		if i, ok := p.index(); !ok || i == 0 || p.protocol() == nil {
			return nil
		}
		if c != 'I' && p.pop(typ) == nil {
			return nil
		}
		if c != 'D' && p.pop(conformance) == nil {
			return nil
		}
		return of(conformance, "")
	case 'O':
		if p.pop(typ) == nil || p.pop(conformance) == nil {
			return nil
		}
		return of(conformance, "")
	case 'X':
		if _, ok := p.list(func() *node { return p.pop(conformance) }); !ok {
			return nil
		}
		return of(conformance, "")
	}
	return nil
}
