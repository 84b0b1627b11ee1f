package swift

import (
	"strconv"
	"strings"
)

// parser is the stack machine.
type parser struct {
	text     string
	pos      int
	stack    []*node
	earlier  []*node  // names and types to which A refers
	words    []string // of earlier names
	pushed   int      // values so far
	textUsed int      // bytes of identifiers so far
}

// run executes the whole text.
func (p *parser) run() bool {
	for p.pos < len(p.text) {
		if !p.push(p.step()) {
			return false
		}
	}
	return true
}

func (p *parser) push(n *node) bool {
	if p.pushed++; n == nil || p.pushed > maxPushed {
		return false
	}
	p.stack = append(p.stack, n)
	return true
}

// pop takes the top of the stack if it is of a kind, else it returns nil.
func (p *parser) pop(k kind) *node {
	if n := p.top(); n != nil && n.kind == k {
		p.stack = p.stack[:len(p.stack)-1]
		return n
	}
	return nil
}

// popMark takes a mark off the stack, and reports whether it was the top.
func (p *parser) popMark(text string) bool {
	n := p.top()
	return n != nil && n.kind == mark && n.text == text && p.pop(mark) != nil
}

func (p *parser) top() *node {
	if len(p.stack) == 0 {
		return nil
	}
	return p.stack[len(p.stack)-1]
}

func (p *parser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// next reads a character. At the end it returns 0, which is no operator.
func (p *parser) next() byte {
	c := p.peek()
	p.pos = min(p.pos+1, len(p.text))
	return c
}

func (p *parser) nextIs(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

// skip reads one of some characters, and reports whether it came next.
func (p *parser) skip(any string) bool {
	if p.pos < len(p.text) && strings.IndexByte(any, p.text[p.pos]) >= 0 {
		p.pos++
		return true
	}
	return false
}

// natural reads a number.
func (p *parser) natural() (n int, ok bool) {
	for isDigit(p.peek()) {
		if n = 10*n + int(p.next()-'0'); n > maxSymbol {
			return 0, false
		}
		ok = true
	}
	return n, ok
}

// index reads an index that ends in _: _ is 0, 0_ is 1.
func (p *parser) index() (int, bool) {
	if p.nextIs('_') {
		return 0, true
	}
	n, ok := p.natural()
	return n + 1, ok && p.nextIs('_')
}

// remember keeps a node, which may be nil, for later references.
func (p *parser) remember(n *node) *node {
	if n != nil {
		p.earlier = append(p.earlier, n)
	}
	return n
}

// step executes one operator and returns its result, nil if it is no operator or an operand is missing.
func (p *parser) step() *node {
	switch c := p.next(); c {
	case 'y', '_', 'd', 'K':
		return of(mark, string(c))
	case 's':
		return of(module, "Swift")
	case 'A':
		return p.substitution()
	case 'C':
		return p.remember(p.nominal(class))
	case 'O', 'V', 'a':
		return p.remember(p.nominal(nominal))
	case 'P':
		return p.remember(p.nominal(protocol))
	case 'E':
		return p.extension()
	case 'F':
		return p.function()
	case 'L':
		return p.localName()
	case 'S':
		return p.standard()
	case 'T':
		return p.thunk()
	case 'W':
		return p.witness()
	case 'M':
		return p.metadata()
	case 'Z':
		return p.static()
	case 'f':
		return p.special()
	case 'i':
		return p.subscript()
	case 'v':
		return p.variable()
	case 'w':
		return p.valueWitness()
	case 'o':
		return p.operatorName()
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		p.pos--
		return p.identifier()
	case 'H', 'g':
		return p.conformanceStep(c)
	case 'R', 'l', 'r':
		return p.genericStep(c)
	default:
		return p.typeStep(c)
	}
}

// maxRepeat bounds the repetitions of a substitution.
const maxRepeat = 2048

// substitution returns one or several earlier nodes: Aab2C.
func (p *parser) substitution() *node {
	for {
		number, given := p.natural()
		c := p.next()
		switch {
		case c == '_': // the first 26 have letters
			if number += 26; given {
				number++
			}
			return p.earlierNode(number)
		case isUpper(c): // the last letter
			return p.repeat(p.earlierNode(int(c-'A')), number)
		case !isLetter(c) || !p.push(p.repeat(p.earlierNode(int(c-'a')), number)):
			return nil
		}
	}
}

func (p *parser) earlierNode(i int) *node {
	if i >= len(p.earlier) {
		return nil
	}
	return p.earlier[i]
}

// repeat pushes times-1 copies of a node, and returns the last one.
func (p *parser) repeat(n *node, times int) *node {
	if times > maxRepeat {
		return nil
	}
	for ; times > 1; times-- {
		if !p.push(n) {
			return nil
		}
	}
	return n
}

// standard returns a type of Swift's own library.
func (p *parser) standard() *node {
	switch {
	case p.nextIs('o'):
		return of(module, "__C")
	case p.nextIs('C'):
		return of(module, "__C_Synthesized")
	case p.nextIs('g'):
		return p.remember(optional(p.pop(typ)))
	}
	times, _ := p.natural()
	code := string(rune(p.next()))
	if code == "c" {
		code += string(rune(p.next()))
	}
	n := swiftType(standardTypes[code], nominal)
	if name := standardProtocols[code]; name != "" {
		n = swiftType(name, protocol)
	}
	return p.repeat(n, times)
}

func swiftType(name string, f form) *node {
	if name == "" {
		return nil
	}
	return &node{kind: typ, form: f, context: of(module, "Swift"), name: of(identifier, name)}
}

// localName makes a name that is private to a file (LL, Ll), local to a function (L_), or derived from a C type's
// name (La).
func (p *parser) localName() *node {
	switch c := p.peek(); {
	case c == 'L':
		p.pos++
		if p.pop(identifier) == nil { // the file
			return nil
		}
		n := p.declName()
		if n == nil {
			return nil
		}
		named := *n
		named.kind, named.private = declName, true
		return &named
	case c == 'l':
		p.pos++
		if p.pop(identifier) == nil {
			return nil
		}
		return &node{kind: declName, private: true}
	case 'a' <= c && c <= 'j' || 'A' <= c && c <= 'J':
		p.pos++
		return of(declName, "related decl '"+string(rune(c))+"' for %", p.declName())
	}
	i, ok := p.index()
	name := of(declName, "% #"+strconv.Itoa(i+1), p.declName())
	if !ok || name == nil {
		return nil
	}
	name.local = true
	return name
}

func (p *parser) declName() *node {
	if n := p.pop(identifier); n != nil {
		return n
	}
	if n := p.pop(declName); n != nil && n.text != "" {
		return n
	}
	return nil
}

func (p *parser) module() *node {
	if n := p.pop(identifier); n != nil {
		return n
	}
	return p.pop(module)
}

// context takes the context of a declaration.
func (p *parser) context() *node {
	if n := p.module(); n != nil {
		return n
	}
	if n := p.top(); n != nil && n.kind == typ && !n.declared() {
		return nil
	}
	return p.entity()
}

// entity takes a declaration, or a type.
func (p *parser) entity() *node {
	if n := p.pop(entity); n != nil {
		return n
	}
	return p.pop(typ)
}

// declare makes an entity of a context and a name.
func declare(context, name *node) *node {
	if context == nil || name == nil {
		return nil
	}
	return &node{kind: entity, context: context, name: name, join: " in "}
}

func (p *parser) nominal(f form) *node {
	name := p.declName()
	n := declare(p.context(), name)
	if n != nil {
		n.kind, n.form = typ, f
	}
	return n
}

// extension returns the extended type, because the declarations in an extension belong to it.
func (p *parser) extension() *node {
	p.pop(signature)
	if p.module() == nil {
		return nil
	}
	n := p.pop(typ)
	if n == nil || !n.declared() {
		return nil
	}
	extended := *n
	extended.kind, extended.form = entity, other
	return &extended
}

func (p *parser) function() *node {
	p.pop(signature)
	f := p.functionType()
	labels, ok := p.labels(f)
	name := p.declName()
	n := declare(p.context(), name)
	if n == nil || f == nil || !ok {
		return nil
	}
	n.labels = labels
	return n
}

// labels takes the labels of a function's parameters off the stack; "" if the type is no function type.
func (p *parser) labels(f *node) (string, bool) {
	for f != nil && f.form == generic {
		f = f.parts[0]
	}
	none := p.popMark("y")
	if f == nil || f.form != function {
		return "", true
	}
	labels := make([]string, f.count)
	for i := range labels {
		l := &labels[len(labels)-1-i]
		*l = "_:"
		if none || p.popMark("_") {
			continue
		}
		n := p.pop(identifier)
		if n == nil {
			return "", false
		}
		*l = n.text + ":"
	}
	all := "(" + strings.Join(labels, "") + ")"
	return all, len(all) < maxName
}

// variable makes a variable's accessor.
func (p *parser) variable() *node {
	t := p.pop(typ)
	_, ok := p.labels(t)
	name := p.declName()
	n := declare(p.context(), name)
	if t == nil || !ok {
		return nil
	}
	return p.accessor(n)
}

// subscript makes a subscript's accessor.
func (p *parser) subscript() *node {
	p.popPrivate()
	t := p.pop(typ)
	_, ok := p.labels(t)
	n := declare(p.context(), of(identifier, "subscript"))
	if t == nil || !ok {
		return nil
	}
	return p.accessor(n)
}

func (p *parser) accessor(n *node) *node {
	if n == nil {
		return nil
	}
	n.storage = true
	code := string(rune(p.next()))
	if code == "p" {
		return n // the variable itself
	}
	if code == "a" || code == "l" {
		code += string(rune(p.next()))
	}
	if n.words = accessors[code]; n.words == "" {
		return nil
	}
	return n
}

func (p *parser) popPrivate() {
	if n := p.top(); n != nil && n.kind == declName && n.private {
		p.pop(declName)
	}
}

func (p *parser) static() *node {
	n := p.pop(entity)
	if n == nil {
		return nil
	}
	s := *n
	s.static = true
	return &s
}

// specials has the words for functions without a name.
var specials = map[byte]string{
	'D': "__deallocating_deinit", 'd': "deinit", 'Z': "__isolated_deallocating_deinit", 'E': "__ivar_destroyer",
	'e': "__ivar_initializer", 'i': "variable initialization expression", 'P': "property wrapper backing initializer",
	'W': "property wrapper init from projected value", 'F': "property wrapped field init accessor",
}

// special makes a function without a name.
func (p *parser) special() *node {
	switch c := p.next(); c {
	case 'C', 'c':
		p.popPrivate()
		t := p.pop(typ)
		labels, ok := p.labels(t)
		context := p.context()
		name := "init"
		if c == 'C' && context != nil && context.form == class {
			name = "__allocating_init"
		}
		n := declare(context, of(identifier, name))
		if n == nil || t == nil || !ok {
			return nil
		}
		n.labels = labels
		return n
	case 'U', 'u':
		i, ok := p.index()
		words := "closure #"
		if c == 'u' {
			words = "implicit closure #"
		}
		if !ok || p.pop(typ) == nil {
			return nil
		}
		return part(p.context(), words+strconv.Itoa(i+1), " in ")
	case 'A':
		i, ok := p.index()
		if !ok {
			return nil
		}
		return part(p.context(), "default argument "+strconv.Itoa(i), " of ")
	case 'M':
		return p.macro()
	default:
		join := " of "
		if !strings.Contains(specials[c], " ") {
			join = " in " // as for a name
		}
		return part(p.context(), specials[c], join)
	}
}

// part makes a part of a declaration that has words instead of a name.
func part(context *node, words, join string) *node {
	if context == nil || words == "" {
		return nil
	}
	return &node{kind: entity, context: context, words: words, join: join}
}

// macro makes a macro's expansion, or a name that the expansion declares.
func (p *parser) macro() *node {
	switch c := p.next(); c {
	case 'X': // the line and column of the expansion
		_, line := p.index()
		_, column := p.index()
		if file := p.pop(identifier); !line || !column || file == nil {
			return nil
		}
		return p.pop(identifier)
	case 'f', 'u', 'a', 'r', 'm', 'p', 'c', 'e', 'q', 'b':
		name, words := p.pop(identifier), "macro expansion #"
		if c == 'u' {
			words = "unique name #"
		} else if c == 'f' {
			p.popPrivate()
		} else if p.declName() == nil {
			return nil
		}
		context := p.context()
		i, ok := p.index()
		if name == nil || !ok {
			return nil
		}
		return part(context, words+strconv.Itoa(i+1)+" of "+name.text, " in ")
	}
	return nil
}
