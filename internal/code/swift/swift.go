// Package swift demangles the names of Swift functions. It turns a symbol such as $s4main5StoreC3add4itemySi_tF into
// the name that a person would write: main.Store.add(item:). Call Name for a symbol; call Possible first if
// many symbols are compared with one name.
//
// A name has the function's module and type, and the labels of its parameters. It lacks the types of parameters
// and results, generic parameters, and the file of a private declaration. Functions that no person wrote have
// words for a name: "closure #1 in main.run()", "protocol witness for Swift.Equatable.==(_:_:) in conformance
// main.Store". The parts of an asynchronous function have the name of the function, as the cold part of a C
// function has.
//
// The grammar is in docs/ABI/Mangling.rst in the compiler's repository; names from Swift 4.2 ($S) on are read. A
// mangled name is a program for a stack machine: an operator takes its operands off the stack and pushes its
// result.
//
// Symbols are not trusted. Name returns nothing for a symbol that it does not understand to the end. Time and
// memory are bounded.
package swift

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxSymbol = 1 << 16 // bytes of a mangled name
	maxName   = 1 << 14 // bytes of a name, and of the names in it
	maxPushed = 1 << 17 // values that are pushed: a short operator may repeat one two thousand times
	maxText   = 1 << 18 // bytes of all identifiers, which may consist of parts of others
	maxDepth  = 200     // of nested nodes
)

// prefixes has the begins of mangled names. The linkers of some systems need an underscore.
var prefixes = []string{"$s", "$S", "$e", "_$s", "_$S", "_$e"}

// Mangled reports whether a symbol looks like a mangled Swift name.
func Mangled(symbol string) bool { return prefixOf(symbol) != "" }

func prefixOf(symbol string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(symbol, p) {
			return p
		}
	}
	return ""
}

// piece matches the end of the symbol of a later part of an asynchronous function.
var piece = regexp.MustCompile(`T[QY][0-9]*_(Tm)?$`)

// Piece reports whether a symbol is a later part of an asynchronous function, which is no entry point.
func Piece(symbol string) bool {
	const longest = 32
	return Mangled(symbol) && piece.MatchString(symbol[max(0, len(symbol)-longest):])
}

// Name returns the name of a symbol, false if the symbol is not Swift's, not a function's, or not understood.
func Name(symbol string) (string, bool) {
	prefix := prefixOf(symbol)
	if prefix == "" || len(symbol) > maxSymbol {
		return "", false
	}
	text, _, _ := strings.Cut(symbol[len(prefix):], ".") // .17 is the suffix of a copy
	p := &parser{text: text}
	if !p.run() {
		return "", false
	}
	w := &writer{}
	for a := p.pop(attribute); a != nil; a = p.pop(attribute) {
		if s := a.text; s != specialized || !strings.HasSuffix(w.out.String(), s) {
			w.write(s)
		}
	}
	if len(p.stack) != 1 || p.stack[0].kind != entity && p.stack[0].kind != thunk {
		return "", false
	}
	if w.node(p.stack[0]); w.failed {
		return "", false
	}
	return w.out.String(), true
}

// Possible reports whether a symbol can have a name, or match a pattern with *. It does not demangle the symbol,
// which takes a second for all symbols of a large program. A name without blanks begins with a module, and so
// does its symbol.
func Possible(symbol, name string) bool {
	if strings.ContainsAny(name, " *$`") {
		return true
	}
	module, _, inModule := strings.Cut(name, ".")
	if !inModule {
		return false
	}
	if module == "Swift" || strings.HasPrefix(module, "__C") || !ascii(module) {
		return true // abbreviated, or coded
	}
	return strings.HasPrefix(symbol[len(prefixOf(symbol)):], strconv.Itoa(len(module))+module)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// specialized comes before the name of a copy of a function for certain types or arguments.
const specialized = "specialized "

// Plain returns a name as in the source: without "specialized" and "static".
func Plain(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, specialized), "static ")
}
