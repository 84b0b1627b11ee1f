// Package swift reads the names that the Swift compiler gives to functions in
// an object file, such as $s4main5StoreC3add4itemySi_tF, and gives the name that a
// person would write: main.Store.add(item:).
//
// A name is that of the function in its type and module, with the labels of its
// parameters, and no types of parameters or results, no generic parameters, no
// file that a private declaration is told apart by. What is not written by a person has
// a name of words: "closure #1 in main.run()", "protocol witness for
// Swift.Equatable.==(_:_:) in conformance main.Store". The pieces of an asynchronous function have
// the name of the function, as the cold part of a C function has.
//
// The grammar is that of docs/ABI/Mangling.rst in the compiler's repository,
// from Swift 4.2 ($S) on. A mangled name is a program for a stack machine: each operator takes what
// it is made of from the stack, and leaves what it has made.
//
// Names are input that nobody vouches for. One that is not understood to its end is not
// read at all, rather than half; time and memory are bounded.
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
	maxPushed = 1 << 17 // values put on the stack: a short operator may repeat one two thousand times
	maxText   = 1 << 18 // bytes of all identifiers: they are made of parts of others
	maxDepth  = 200     // of what is in each other
)

// prefixes are what mangled names begin with; the underscore is for systems whose linker wants one.
var prefixes = []string{"$s", "$S", "$e", "_$s", "_$S", "_$e"}

// Mangled reports whether a symbol looks like the name of something in Swift.
func Mangled(symbol string) bool { return prefixOf(symbol) != "" }

func prefixOf(symbol string) string {
	for _, p := range prefixes {
		if strings.HasPrefix(symbol, p) {
			return p
		}
	}
	return ""
}

// piece is the end of the name of a part of a function that goes on after it waited.
var piece = regexp.MustCompile(`T[QY][0-9]*_(Tm)?$`)

// Piece reports whether a symbol is a later part of an asynchronous function: no
// entry point of it.
func Piece(symbol string) bool { return Mangled(symbol) && piece.MatchString(symbol) }

// Name reads a symbol; false if it is none of Swift's, or not a function's, or not understood.
func Name(symbol string) (string, bool) {
	prefix := prefixOf(symbol)
	if prefix == "" || len(symbol) > maxSymbol {
		return "", false
	}
	text, _, _ := strings.Cut(symbol[len(prefix):], ".") // .17: one of several copies
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

// Possible reports whether a symbol can have a name, or a pattern with *, without reading it: in a large program that
// takes a second for all. A name without blanks begins with a module, and its symbol does, too.
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

// specialized is what a copy of a function for certain types or arguments is called.
const specialized = "specialized "

// Plain is a name as it is in the source: without the words that say which copy of
// the function it is, and that its type has it, not a value.
func Plain(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, specialized), "static ")
}
