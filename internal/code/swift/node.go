package swift

import "strings"

// kind says which operands a node can be.
type kind uint8

const (
	mark        kind = iota + 1 // a list's begin, an empty list, or a property of a function
	identifier                  // in a name, a label, a module
	declName                    // a name that is more than an identifier
	module                      //
	typ                         //
	entity                      // a declaration: a function, variable, accessor, closure
	signature                   // generic parameters and their requirements
	requirement                 // one of these
	conformance                 // of a type to a protocol
	retroactive                 // a conformance that a third module declares
	attribute                   // a property of a function; its text comes before the name
	thunk                       // code that the compiler adds, for a function or a type
)

// form says of which form a type is, as far as that matters.
type form uint8

const (
	other form = iota
	nominal
	class
	protocol
	tuple
	function
	generic
)

// node is a value on the stack.
type node struct {
	kind kind
	form form // of a type

	// text is an identifier, or a pattern in which each % stands for the next part.
	text  string
	parts []*node

	// A declaration has these instead of text: its context, its name, if any, and words for the meant part
	// of it, such as its getter or a closure in it. One word follows the name ("name.getter"). Several
	// words come first, and the context after join ("closure #1 in name").
	context *node
	name    *node
	words   string
	join    string
	labels  string // of parameters, in parentheses; "" if there are none
	storage bool   // a variable or subscript, or a function of one, with a type that is not shown
	static  bool

	local   bool // a name within a function, such as "helper #1"
	private bool // a name that is private to a file
	count   int  // parameters, or elements of a tuple
}

// of returns a node, nil if one of the parts is nil.
func of(k kind, text string, parts ...*node) *node {
	for _, p := range parts {
		if p == nil {
			return nil
		}
	}
	return &node{kind: k, text: text, parts: parts}
}

// declared reports whether a node is a declaration, which has a context.
func (n *node) declared() bool { return n.context != nil }

// writer writes a tree as a name.
type writer struct {
	out    strings.Builder
	depth  int
	failed bool
}

func (w *writer) write(s string) {
	if w.out.Len()+len(s) > maxName {
		w.failed = true
		return
	}
	w.out.WriteString(s)
}

func (w *writer) node(n *node) {
	w.depth++
	defer func() { w.depth-- }()
	switch {
	case n == nil || w.depth > maxDepth:
		w.failed = true
	case w.failed:
	case n.declared():
		w.declaration(n, false)
	case len(n.parts) == 0:
		w.write(n.text)
	default:
		parts := n.parts
		for text := n.text; ; {
			before, after, more := strings.Cut(text, "%")
			w.write(before)
			if !more || len(parts) == 0 {
				w.failed = w.failed || more || len(parts) > 0
				return
			}
			w.node(parts[0])
			text, parts = after, parts[1:]
		}
	}
}

// declaration writes a name with its context before it (module.Type.name) or behind it (closure #1 in
// module.name()). With before, n is the context before another name, so nothing may follow it: if
// something would, declaration writes nothing and returns n, which the caller writes behind the name.
func (w *writer) declaration(n *node, before bool) (after *node) {
	w.depth++
	defer func() { w.depth-- }()
	if w.depth > maxDepth {
		w.failed = true
	}
	long := strings.Contains(n.words, " ") || n.name != nil && n.name.local
	if w.failed || before && (long || n.labels != "" || n.storage) {
		return n
	}
	if n.static {
		w.write("static ")
	}
	switch start := w.out.Len(); {
	case long:
		after = n.context
	case n.context.declared():
		after = w.declaration(n.context, true)
		if w.out.Len() > start {
			w.write(".")
		}
	default:
		w.node(n.context)
		w.write(".")
	}
	switch {
	case n.name == nil:
		w.write(n.words)
	case n.words == "":
		w.node(n.name)
	case long:
		w.write(n.words + " of ")
		w.node(n.name)
	default:
		w.node(n.name)
		w.write("." + n.words)
	}
	if long && n.labels != "" {
		w.write(" ")
	}
	w.write(n.labels)
	if before || after == nil {
		return after
	}
	w.write(n.join)
	w.node(after)
	return nil
}
