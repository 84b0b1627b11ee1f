package swift

import (
	"strconv"
	"strings"
)

// attributes has the properties of a function, by their code behind T.
var attributes = map[byte]string{
	'A': "partial apply for ", 'a': "partial apply for ", 'o': "@objc ", 'O': "@nonobjc ", 'D': "dynamic ",
	'd': "super ", 'E': "distributed thunk ", 'F': "distributed accessor for ", 'm': "merged ",
	'I': "dynamically replaceable thunk for ",
}

// thunk makes code that the compiler adds to a function: a way to call it, or a copy of it. The latter, and
// other properties, are attributes.
func (p *parser) thunk() *node {
	c := p.next()
	if text := attributes[c]; text != "" {
		return of(attribute, text)
	}
	switch c {
	case 'Y', 'Q': // a part of an asynchronous function, which has the function's name
		if _, ok := p.index(); !ok {
			return nil
		}
		return of(attribute, "")
	case 'v':
		i, ok := p.index()
		if !ok {
			return nil
		}
		p.skip("r")
		return of(attribute, "outlined variable #"+strconv.Itoa(i)+" of ")
	case 'w':
		switch p.next() {
		case 'b':
			return of(attribute, "back deployment thunk for ")
		case 'B':
			return of(attribute, "back deployment fallback for ")
		case 'd':
			return of(attribute, "default override of ")
		}
		return nil
	case 'g', 'G', 'B', 's', 'i', 't':
		return p.specialization(c)
	case 'p', 'P':
		if !p.pass() || p.pop(typ) == nil {
			return nil
		}
		return of(attribute, specialized)
	case 'f':
		return p.signatureSpecialization()
	}
	return p.callThunk(c)
}

// callThunk makes a way to call a function.
func (p *parser) callThunk(c byte) *node {
	switch c {
	case 'c':
		return of(entity, "curry thunk of %", p.entity())
	case 'j':
		return of(entity, "dispatch thunk of %", p.entity())
	case 'S':
		return of(thunk, "protocol self-conformance witness for %", p.entity())
	case 'V':
		base := p.entity()
		return of(thunk, "vtable thunk for % dispatching to %", base, p.entity())
	case 'W':
		function := p.entity()
		conformance := p.typeAndProtocol()
		if conformance == nil {
			return nil
		}
		return of(thunk, "protocol witness for % in conformance %", function, conformance.parts[0])
	case 'R', 'r', 'y':
		p.pop(signature)
		if c == 'y' && p.pop(typ) == nil {
			return nil
		}
		if p.pop(typ) == nil {
			return nil
		}
		return of(thunk, "reabstraction thunk for %", p.pop(typ))
	case 'U':
		if p.pop(typ) == nil {
			return nil
		}
		return p.pop(thunk)
	case 'K', 'k', 'H', 'h':
		return p.keyPath(c)
	case 'T':
		if p.next() != 'I' {
			return nil
		}
		return of(thunk, "identity thunk of %", p.entity())
	}
	return nil
}

// keyPath makes a function of a key path such as \Store.name.
func (p *parser) keyPath(c byte) *node {
	what := map[byte]string{
		'K': "key path getter for %", 'k': "key path setter for %",
		'H': "key path equality operator", 'h': "key path hash operator",
	}[c]
	if c == 'K' || c == 'k' {
		if strings.HasPrefix(p.text[p.pos:], "mu") || strings.HasPrefix(p.text[p.pos:], "MA") {
			what = "key path method for %"
			p.pos += 2
		}
	}
	p.skip("q")
	p.popTypes()
	p.pop(signature)
	p.popTypes()
	if c == 'H' || c == 'h' {
		return of(thunk, what)
	}
	return of(thunk, what, p.pop(entity))
}

func (p *parser) popTypes() {
	for p.pop(typ) != nil {
	}
}

// specialization makes a copy of a generic function for certain types.
func (p *parser) specialization(c byte) *node {
	for c == 't' { // an argument is dropped, because it is always the same
		p.natural()
		if c = p.next(); c != 't' && c != 'g' && c != 'G' && c != 'B' {
			return nil
		}
	}
	if !p.pass() {
		return nil
	}
	if _, ok := p.types(); !ok {
		return nil
	}
	return of(attribute, specialized)
}

// pass reads which pass of the compiler made a copy.
func (p *parser) pass() bool {
	for p.skip("qmar") {
	}
	return isDigit(p.next())
}

// signatureSpecialization makes a copy of a function for certain arguments: fewer arguments, constants, closures.
func (p *parser) signatureSpecialization() *node {
	if !p.pass() {
		return nil
	}
	var operands []byte // the arguments' operands on the stack, in their order
	for !p.nextIs('_') {
		what, ok := p.argument()
		if !ok {
			return nil
		}
		if what != 0 {
			operands = append(operands, what)
		}
	}
	if what, ok := p.argument(); !ok || what != 0 {
		return nil
	}
	for i := len(operands) - 1; i >= 0; i-- {
		if operands[i] == 'c' || operands[i] == 'k' {
			p.popTypes()
		}
		if p.pop(identifier) == nil {
			return nil
		}
	}
	return of(attribute, specialized)
}

// argument reads how a copy's argument is specialized. operand says what is on the stack for it: c and k for a
// name and types, f for a name, 0 for nothing.
func (p *parser) argument() (operand byte, ok bool) {
	switch p.next() {
	case 'n', 'i', 's', 'x', 'r':
		return 0, true
	case 'c', 'E':
		return 'c', true
	case 'C':
		_, ok := p.natural()
		return 0, ok
	case 'e', 'd':
		for _, flags := range []string{"D", "G", "O", "X"} {
			p.skip(flags)
		}
		return 0, true
	case 'g', 'o':
		p.skip("X")
		return 0, true
	case 'p':
		switch p.next() {
		case 'f', 'g':
			return 'f', true
		case 'i', 'd':
			ok := isDigit(p.peek())
			for isDigit(p.peek()) {
				p.pos++
			}
			return 0, ok
		case 's':
			return 'f', p.skip("bwc")
		case 'k':
			return 'k', true
		}
	}
	return 0, false
}

// typeAndProtocol takes a type, a protocol to which it conforms, and the module that declares that.
func (p *parser) typeAndProtocol() *node {
	p.pop(signature)
	if p.module() == nil {
		return nil
	}
	proto := p.protocol()
	return of(thunk, "% : %", p.pop(typ), proto)
}

// metadata makes a function that finds or completes the description of a type.
func (p *parser) metadata() *node {
	what := map[byte]string{
		'a': "type metadata accessor for %", 'b': "specialized type metadata accessor for %",
		'i': "type metadata instantiation function for %", 'r': "type metadata completion function for %",
		'u': "method lookup function for %", 'U': "ObjC metadata update function for %",
	}[p.next()]
	if what == "" {
		return nil
	}
	return of(thunk, what, p.pop(typ))
}

func (p *parser) valueWitness() *node {
	code := string([]byte{p.next(), p.next()})
	if valueWitnesses[code] == "" {
		return nil
	}
	return of(thunk, valueWitnesses[code]+" value witness for %", p.pop(typ))
}

// witness makes a function that finds the table of a type's protocol, or another helper.
func (p *parser) witness() *node {
	switch c := p.next(); c {
	case 'O':
		c = p.next()
		if outlined[c] == "" {
			return nil
		}
		if c == 'i' || c == 'j' {
			if _, ok := p.index(); !ok {
				return nil
			}
		}
		p.pop(signature)
		return of(thunk, "outlined "+outlined[c]+" of %", p.pop(typ))
	case 'I':
		return of(thunk, "instantiation function for protocol witness table for %", p.typeAndProtocol())
	case 'a':
		return of(thunk, "protocol witness table accessor for %", p.typeAndProtocol())
	case 'l':
		conformance := p.typeAndProtocol()
		if conformance == nil {
			return nil
		}
		return of(thunk, "lazy protocol witness table accessor for % : %", p.pop(typ), conformance.parts[1])
	case 't':
		name := p.declName()
		return of(thunk, "associated type metadata accessor for % in %", name, p.typeAndProtocol())
	case 'T':
		proto := p.pop(typ)
		path, ok := p.list(p.associated)
		conformance := p.typeAndProtocol()
		if !ok || proto == nil || conformance == nil || len(path) == 0 {
			return nil
		}
		return of(thunk, "associated type witness table accessor for % : % in %",
			of(typ, placeholders(len(path), "."), path...), proto, conformance.parts[0])
	case 'b':
		proto := p.pop(typ)
		conformance := p.typeAndProtocol()
		if conformance == nil {
			return nil
		}
		return of(thunk, "base witness table accessor for % in %", proto, conformance.parts[0])
	case 'Z':
		return p.globalInit()
	}
	return nil
}

// globalInit makes the function that initializes global variables, once.
func (p *parser) globalInit() *node {
	var names []*node
	for p.popMark("_") {
		n := p.declName()
		if n == nil {
			return nil
		}
		names = append(names, n)
	}
	reverse(names)
	context := p.context()
	if context == nil || len(names) == 0 {
		return nil
	}
	name := of(declName, placeholders(len(names), ", "), names...)
	return of(thunk, "one-time initialization function for %", declare(context, name))
}
