package unwind

// rule returns the rule for a state at an address. With perAddress the rule may differ at the next
// address, because an expression uses the address.
func (a *arch) rule(s *state, address uint64) (r Rule, perAddress bool) {
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
		perAddress = e.usedIP
	}
	if !cfa.usable() {
		return Rule{}, perAddress
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
		return Rule{}, perAddress
	}
	r.FP = a.where(&s.saved[fp], address)
	r.BX = a.where(&s.saved[bx], address)
	return r, perAddress
}

// usable reports whether a Rule can have the value as its CFA.
func (v value) usable() bool {
	return (v.base >= SP && v.base <= BX || v.base >= Other && v.base < Other+32) && small(v.offset) && small(v.add)
}

// where returns the place of a saved register, in a Rule's terms.
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

// isEntry reports whether a rule is that of a function's first instruction, which has no frame. A
// function that needs no frame has this rule throughout.
func (a *arch) isEntry(r Rule) bool {
	if r.Kind != CFA || r.Base != SP {
		return false
	}
	if a.ip == noRegister {
		return r.Offset == 0 && r.RA == 0
	}
	return r.Offset == 8 && r.RA == -8
}
