package swift

import "strings"

// kind is the part that a node can play in what follows it.
type kind uint8

const (
	mark        kind = iota + 1 // of the beginning of a list, of an empty one, of a property of a function
	identifier                  // in a name, a label, a module
	declName                    // a name that is more than an identifier
	module                      //
	typ                         //
	entity                      // what is declared in code: functions, variables, accessors, closures
	signature                   // generic parameters and what is required of them
	requirement                 // one of these
	conformance                 // of a type to a protocol
	retroactive                 // a conformance that some third module has declared
	attribute                   // what a function is besides: text is put before its name
	thunk                       // what the compiler made, around a function or for a type
)

// form is what matters of a type.
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

	// text is an identifier; else a pattern, in which % stands for one of the parts after the other.
	text  string
	parts []*node

	// Of what is declared, instead of text: where, its name, if it has one, and what of it is meant: its getter, a
	// closure in it. Such words follow the name. Two words cannot have their context before them: it follows after join.
	context *node
	name    *node
	words   string
	join    string
	labels  string // of parameters, in parentheses; "" if it has none
	storage bool   // a variable or subscript, or a function of it: it has a type, which is not shown
	static  bool

	local   bool // a name within a function, such as "helper #1"
	private bool // a name that a file is told with
	count   int  // parameters, or elements of a tuple
}

func of(k kind, text string, parts ...*node) *node {
	for _, p := range parts {
		if p == nil {
			return nil
		}
	}
	return &node{kind: k, text: text, parts: parts}
}

// declared is true of what has a context.
func (n *node) declared() bool { return n.context != nil }

// writer puts a tree into words.
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

// declaration writes a name in its context, which is before it (module.Type.name) or after it
// (closure #1 in module.name()). If it is itself the context before another name it
// cannot be one that has something after it; then it is given back, to follow that other name.
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
