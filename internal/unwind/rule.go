package unwind

// rule is what a state means at an address, and whether it is another one at the
// next address, because an expression asks for the address.
func (a *arch) rule(s *state, address uint64) (r Rule, moving bool) {
	if s.saved[ra].how == undefined {
		return Rule{Kind: End}, false
	}
	cfa := value{base: a.base(s.register), offset: s.offset}
	if s.expression != nil {
		e := evaluator{arch: a, ip: address}
		var err error
		if cfa, err = e.evaluate(reader{data: s.expression}); err != nil {
			return Rule{}, false
		}
		moving = e.usedIP
	}
	if !cfa.usable() {
		return Rule{}, moving
	}
	r = Rule{Kind: CFA, Base: cfa.base, Offset: int32(cfa.offset), Add: int32(cfa.add)}
	if cfa.read {
		r.Kind = CFAAt
	}
	if s.saved[ra].how == same && a.ip == noRegister {
		r.RA = 0
	} else if where := a.where(&s.saved[ra], address); where.Where == AtCFA && where.Offset != 0 {
		r.RA = where.Offset
	} else {
		return Rule{}, moving
	}
	r.FP = a.where(&s.saved[fp], address)
	r.BX = a.where(&s.saved[bx], address)
	return r, moving
}

// usable reports whether a Rule can say that the CFA is this.
func (v value) usable() bool {
	return (v.base >= SP && v.base <= BX || v.base >= Other && v.base < Other+32) && small(v.offset) && small(v.add)
}

// where says where a register is saved, as a Rule can.
func (a *arch) where(s *saved, address uint64) Saved {
	switch s.how {
	case same:
		return Saved{Where: Same}
	case atOffset:
		if small(s.offset) {
			return Saved{AtCFA, int32(s.offset)}
		}
	case atExpression:
		e := evaluator{arch: a, ip: address, stack: []value{{base: atCFA}}}
		v, err := e.evaluate(reader{data: s.expression})
		if err != nil || e.usedIP || v.read || !small(v.offset) {
			break
		}
		switch v.base {
		case atCFA:
			return Saved{AtCFA, int32(v.offset)}
		case FP:
			return Saved{AtFP, int32(v.offset)}
		case SP:
			return Saved{AtSP, int32(v.offset)}
		}
	}
	return Saved{Where: Gone}
}

// entry reports whether a rule is that of a function's first instruction, which has
// no frame yet: so is all of a function that needs none.
func (a *arch) entry(r Rule) bool {
	if r.Kind != CFA || r.Base != SP {
		return false
	}
	if a.ip == noRegister {
		return r.Offset == 0 && r.RA == 0
	}
	return r.Offset == 8 && r.RA == -8
}
