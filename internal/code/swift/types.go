package swift

import (
	"strconv"
	"strings"
)

// typeStep executes the operators that only make types.
func (p *parser) typeStep(c byte) *node {
	switch c {
	case 'x':
		return parameter(0, 0)
	case 'q':
		return p.parameter()
	case 'c':
		return p.functionType()
	case 't':
		return p.tuple()
	case 'G':
		return p.remember(p.bound())
	case 'h', 'n':
		return of(typ, "%", p.pop(typ))
	case 'z':
		return of(typ, "inout %", p.pop(typ))
	case 'm':
		return of(typ, "%.Type", p.pop(typ))
	case 'p':
		return p.protocols("")
	case 'u': // with its own generic parameters, which are not shown
		if p.pop(signature) == nil {
			return nil
		}
		t := of(typ, "%", p.pop(typ))
		if t != nil {
			t.form = generic
		}
		return t
	case '$':
		negative := p.nextIs('n')
		i, ok := p.index()
		if !ok {
			return nil
		}
		if negative {
			i = -i
		}
		return of(typ, strconv.Itoa(i))
	case 'B':
		return p.builtin()
	case 'I':
		return p.implementation()
	case 'Q':
		return p.archetype()
	case 'X':
		return p.specialType()
	case 'Y':
		return p.annotation()
	}
	return nil
}

// annotation reads a property of a function type or of a parameter.
func (p *parser) annotation() *node {
	switch c := p.next(); c {
	case 'a', 'b', 'A', 'C', 'T': // async, @Sendable, isolation, sending
		return of(mark, "Y")
	case 'j': // differentiable
		if !p.skip("frdl") {
			return nil
		}
		return of(mark, "Y")
	case 'c', 'K': // of a global actor; throws a type
		if p.pop(typ) == nil {
			return nil
		}
		return of(mark, "Y")
	case 'i', 'k', 't', 'g', 'u': // isolated, noDerivative, const, sending
		return of(typ, "%", p.pop(typ))
	}
	return nil
}

// functionType makes a function type of a result and parameters.
func (p *parser) functionType() *node {
	for p.popMark("Y") || p.popMark("K") {
	}
	parameters := p.typeOrNothing()
	result := p.typeOrNothing()
	if parameters == nil || result == nil {
		return nil
	}
	f := of(typ, "% -> %", parameters, result)
	f.form, f.count = function, 1
	if parameters.form == tuple {
		f.count = parameters.count
	} else {
		f.text = "(%) -> %"
	}
	return f
}

func (p *parser) typeOrNothing() *node {
	if p.popMark("y") {
		return &node{kind: typ, form: tuple, text: "()"}
	}
	return p.pop(typ)
}

// list takes the elements of a list off the stack. A mark follows the first element.
func (p *parser) list(element func() *node) (all []*node, ok bool) {
	if p.popMark("y") {
		return nil, true
	}
	for first := false; !first; {
		first = p.popMark("_")
		n := element()
		if n == nil {
			return nil, false
		}
		all = append(all, n)
	}
	reverse(all)
	return all, true
}

func reverse(all []*node) {
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
}

func (p *parser) types() ([]*node, bool) {
	return p.list(func() *node { return p.pop(typ) })
}

func (p *parser) tuple() *node {
	elements, ok := p.list(func() *node {
		text := "%"
		if p.popMark("d") {
			text = "%..."
		}
		if label := p.pop(identifier); label != nil {
			return of(typ, "%: "+text, label, p.pop(typ))
		}
		return of(typ, text, p.pop(typ))
	})
	if !ok {
		return nil
	}
	n := of(typ, "("+placeholders(len(elements), ", ")+")", elements...)
	n.form, n.count = tuple, len(elements)
	return n
}

// placeholders returns a pattern for n parts.
func placeholders(n int, between string) string {
	return strings.TrimSuffix(strings.Repeat("%"+between, n), between)
}

// arguments takes the arguments of generic types: a list for the type and for each type around it, innermost first.
func (p *parser) arguments() (lists [][]*node, ok bool) {
	for p.pop(retroactive) != nil {
	}
	for {
		var list []*node
		for t := p.pop(typ); t != nil; t = p.pop(typ) {
			list = append(list, t)
		}
		reverse(list)
		lists = append(lists, list)
		if p.popMark("y") {
			return lists, true
		}
		if !p.popMark("_") {
			return nil, false
		}
	}
}

func (p *parser) bound() *node {
	lists, ok := p.arguments()
	t := p.pop(typ)
	if !ok || t == nil || !t.declared() {
		return nil
	}
	return bind(t, lists)
}

// bind gives a type its arguments, and the rest of the lists to the types around it.
func bind(t *node, lists [][]*node) *node {
	if !t.declared() || len(lists) > maxDepth {
		return nil
	}
	list, takes := lists[0], t.name != nil && !t.storage
	if takes {
		lists = lists[1:] // otherwise the first list is the context's
	}
	if len(lists) > 0 {
		context := bind(t.context, lists)
		if context == nil {
			return nil
		}
		within := *t
		within.context = context
		t = &within
	}
	if len(list) == 0 || !takes {
		return t
	}
	if t.kind == typ && t.name != nil && t.context.kind == module && t.context.text == "Swift" {
		switch {
		case t.name.text == "Optional" && len(list) == 1:
			return optional(list[0])
		case t.name.text == "Array" && len(list) == 1:
			return of(typ, "[%]", list...)
		case t.name.text == "Dictionary" && len(list) == 2:
			return of(typ, "[% : %]", list...)
		}
	}
	return of(typ, "%<"+placeholders(len(list), ", ")+">", append([]*node{t}, list...)...)
}

func optional(t *node) *node {
	if t != nil && (t.form == function || t.form != tuple && strings.Contains(t.text, " ")) {
		return of(typ, "(%)?", t)
	}
	return of(typ, "%?", t)
}

// protocols makes the type of all values that conform to protocols, or extend a class.
func (p *parser) protocols(end string, more ...*node) *node {
	all, ok := p.list(p.protocol)
	if !ok {
		return nil
	}
	all = append(more, all...)
	text := placeholders(len(all), " & ")
	switch {
	case len(all) == 0 && end == "":
		text = "Any"
	case len(all) == 0:
		text = end
	case end != "":
		text += " & " + end
	}
	return of(typ, text, all...)
}

// protocol takes a protocol, or makes one from a name.
func (p *parser) protocol() *node {
	if t := p.pop(typ); t != nil {
		if t.form != protocol {
			return nil
		}
		return t
	}
	return p.nominal(protocol)
}

func (p *parser) builtin() *node {
	c := p.next()
	switch c {
	case 'f', 'i', 'v':
		size, ok := p.index()
		if !ok {
			return nil
		}
		name := map[byte]string{'f': "Float", 'i': "Int", 'v': "Vec"}[c] + strconv.Itoa(size-1)
		if c == 'v' {
			return of(typ, "Builtin."+name+"x%", p.pop(typ))
		}
		return of(typ, "Builtin."+name)
	case 'V':
		element, size := p.pop(typ), p.pop(typ)
		return of(typ, "Builtin.FixedArray<%, %>", size, element)
	}
	if builtinTypes[c] == "" {
		return nil
	}
	return of(typ, "Builtin."+builtinTypes[c])
}

// implementation makes the type of a compiled function. Each parameter and result has letters that say how it is
// passed; they are not shown.
func (p *parser) implementation() *node {
	if p.nextIs('s') {
		if _, ok := p.arguments(); !ok || p.pop(signature) == nil {
			return nil
		}
	}
	if p.nextIs('I') {
		if _, ok := p.arguments(); !ok {
			return nil
		}
	}
	if p.pop(signature) != nil {
		p.skip("P")
	}
	p.skip("e")
	p.skip("AN")
	p.skip("O")
	p.skip("dlfr")
	if !p.skip("ygxt") || !p.representation() {
		return nil
	}
	for _, flags := range []string{"AIG", "h", "H", "T"} {
		p.skip(flags)
	}
	parameters, results := 0, 0
	for p.skip("iclbnXxygevpm") {
		parameters++
		for _, flags := range []string{"w", "T", "I", "L"} {
			p.skip(flags)
		}
	}
	for p.skip("roduaklgm") {
		results++
		p.skip("w")
	}
	for p.nextIs('Y') {
		if results++; !p.skip("iclbnXxygevpm") {
			return nil
		}
	}
	if p.nextIs('z') {
		if results++; !p.skip("roduaklgm") {
			return nil
		}
		p.skip("w")
	}
	if !p.nextIs('_') {
		return nil
	}
	all := make([]*node, parameters+results)
	for i := range all {
		if all[len(all)-1-i] = p.pop(typ); all[len(all)-1-i] == nil {
			return nil
		}
	}
	result := placeholders(results, ", ")
	if results != 1 {
		result = "(" + result + ")"
	}
	f := of(typ, "("+placeholders(parameters, ", ")+") -> "+result, all...)
	f.form = function
	return f
}

// representation reads a function's calling convention, and for a C function its type.
func (p *parser) representation() bool {
	if p.nextIs('z') {
		return p.skip("BC") && p.cType()
	}
	p.skip("BCMJKVWO")
	return true
}

func (p *parser) cType() bool {
	n, ok := p.natural()
	if !ok || n == 0 || n > len(p.text)-p.pos {
		return false
	}
	p.pos += n
	return true
}

// archetype makes a type that depends on others: an associated type, an opaque result, a pack.
func (p *parser) archetype() *node {
	switch c := p.next(); c {
	case 'a':
		name := p.pop(identifier)
		return p.remember(of(typ, "%.%", p.pop(typ), name))
	case 'x':
		name := p.associated()
		return p.remember(of(typ, "%.%", p.pop(typ), name))
	case 'y':
		base := p.parameter()
		return p.remember(of(typ, "%.%", base, p.associated()))
	case 'z':
		return p.remember(of(typ, "%.%", parameter(0, 0), p.associated()))
	case 'X', 'Y', 'Z':
		base := parameter(0, 0)
		if c == 'Y' {
			base = p.parameter()
		}
		names, ok := p.list(p.associated)
		if c == 'X' {
			base = p.pop(typ)
		}
		if !ok || base == nil || len(names) == 0 {
			return nil
		}
		return p.remember(of(typ, placeholders(len(names)+1, "."), append([]*node{base}, names...)...))
	case 'O':
		return of(entity, "opaque result of %", p.context())
	case 'o':
		_, ok := p.index()
		if _, more := p.arguments(); !more || !ok {
			return nil
		}
		return p.remember(of(typ, "some %", p.pop(entity)))
	case 'r', 'u':
		return of(typ, "some")
	case 'R', 'U':
		if _, ok := p.index(); !ok {
			return nil
		}
		return of(typ, "some")
	case 'p':
		count := p.pop(typ)
		if count == nil {
			return nil
		}
		return of(typ, "repeat %", p.pop(typ))
	case 'e':
		t := p.pop(typ)
		if _, ok := p.index(); !ok {
			return nil
		}
		return of(typ, "each %", t)
	case 'P', 'S':
		all, ok := p.types()
		if !ok || c == 'S' && !p.skip("id") {
			return nil
		}
		return of(typ, "Pack{"+placeholders(len(all), ", ")+"}", all...)
	}
	return nil
}

// associated takes the name of an associated type.
func (p *parser) associated() *node {
	t := p.pop(typ)
	name := p.pop(identifier)
	switch {
	case t == nil:
		return name
	case t.form != protocol:
		return nil
	}
	return of(typ, "%.%", t, name)
}

// parameter reads a reference to a generic parameter.
func (p *parser) parameter() *node {
	depth := 0
	switch {
	case p.nextIs('z'):
		return parameter(0, 0)
	case p.nextIs('s'):
		return of(typ, "Self")
	case p.nextIs('d'):
		d, ok := p.index()
		if !ok {
			return nil
		}
		depth = d + 1
	}
	i, ok := p.index()
	if !ok {
		return nil
	}
	if depth == 0 {
		i++
	}
	return parameter(depth, i)
}

// parameter returns a generic parameter. Its name is A to Z, AB and so on, with its depth: B1.
func parameter(depth, i int) *node {
	name := string(rune('A' + i%26))
	for i /= 26; i > 0; i /= 26 {
		name += string(rune('A' + i%26))
	}
	if depth > 0 {
		name += strconv.Itoa(depth)
	}
	return of(typ, name)
}

func (p *parser) specialType() *node {
	switch c := p.next(); c {
	case 'E':
		return p.functionType()
	case 'A', 'f', 'K', 'U', 'L', 'B', 'C', 'O':
		return unlabelled(p.functionType())
	case 'z':
		if c = p.next(); (c != 'B' && c != 'C') || !p.cType() {
			return nil
		}
		return unlabelled(p.functionType())
	case 'o', 'u', 'w', 'b':
		text := map[byte]string{'o': "unowned %", 'u': "unowned(unsafe) %", 'w': "weak %", 'b': "@box %"}[c]
		return of(typ, text, p.pop(typ))
	case 'D':
		if p.pop(typ) == nil {
			return nil
		}
		return of(typ, "Self")
	case 'M', 'm':
		if !p.skip("tTo") {
			return nil
		}
		return of(typ, "%.Type", p.pop(typ))
	case 'p':
		return of(typ, "%.Type", p.pop(typ))
	case 'P':
		if _, ok := p.list(func() *node { return p.pop(requirement) }); !ok {
			return nil
		}
		return of(typ, "any %", p.pop(typ))
	case 'c':
		superclass := p.pop(typ)
		if superclass == nil {
			return nil
		}
		return p.protocols("", superclass)
	case 'l':
		return p.protocols("AnyObject")
	case 'x', 'X':
		return p.box(c == 'X')
	case 'Y':
		return p.remember(p.nominal(nominal))
	case 'e':
		return of(typ, "<error type>")
	}
	return nil
}

// unlabelled removes labels from a function type: functions with other calling conventions have none.
func unlabelled(f *node) *node {
	if f != nil {
		f.form = other
	}
	return f
}

// box makes the type of variables that a closure captures.
func (p *parser) box(isGeneric bool) *node {
	if isGeneric {
		if p.pop(signature) == nil {
			return nil
		}
		if _, ok := p.types(); !ok {
			return nil
		}
	}
	fields, ok := p.types()
	if !ok {
		return nil
	}
	return of(typ, "{ "+placeholders(len(fields), ", ")+" }", fields...)
}
