package point

import (
	"regexp"
	"strings"
)

// splitPath cuts CODE<CALLER<CALLER… at its separators. A < is none where it is part
// of a name: that of an operator (operator<, operator<<, Swift's main.Size.<(_:_:)), or the beginning of
// template arguments, which is a < that a later > closes. So f<int> is one name, and
// a<f<int> is a called from f<int>.
func splitPath(s string) []string {
	var open []int // brackets that are not closed yet
	for i := 0; i < len(s); i++ {
		if n := operatorAt(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch s[i] {
		case '<', '(':
			open = append(open, i)
		case ')':
			// What was opened since the parenthesis, and not closed, only looked like a bracket.
			for len(open) > 0 && s[open[len(open)-1]] != '(' {
				open = open[:len(open)-1]
			}
			open = open[:max(0, len(open)-1)]
		case '>':
			arrow := i > 0 && s[i-1] == '-' // f<fn() -> int>
			if last := len(open) - 1; last >= 0 && s[open[last]] == '<' && !arrow {
				open = open[:last]
			}
		}
	}
	var parts []string
	from := 0
	for _, i := range open {
		if s[i] == '(' { // never closed: no name that could be split
			break
		}
		parts = append(parts, strings.TrimSpace(s[from:i]))
		from = i + 1
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// operators are those with brackets in their names, longer ones before their beginnings.
var operators = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// operatorAt gives the length of the name of an operator that begins at i, 0 if none
// does. After it comes nothing, a blank, its arguments, its template arguments or a
// separator: so operator<<f is operator<, called from f.
func operatorAt(s string, i int) int {
	if n := swiftOperatorAt(s, i); n > 0 {
		return n
	}
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) || i > 0 && identifier(s[i-1]) {
		return 0
	}
	rest := s[i+len(word):]
	for _, o := range operators {
		if after, ok := strings.CutPrefix(rest, o); ok && (after == "" || strings.IndexByte(" (<", after[0]) >= 0) {
			return len(word) + len(o)
		}
	}
	return 0
}

// swiftOperatorAt gives the length of an operator's name as Swift has it: it follows the dot after its
// type or module, and the labels of its parameters follow it.
func swiftOperatorAt(s string, i int) int {
	if i == 0 || s[i-1] != '.' {
		return 0
	}
	rest := strings.TrimLeft(s[i:], "/=-+!*%<>&|^~?.")
	n := len(s) - i - len(rest)
	for _, fixity := range []string{"", " prefix", " postfix"} {
		if labels, ok := strings.CutPrefix(rest, fixity+"(_:"); ok && n > 0 && (strings.HasPrefix(labels, ")") || strings.HasPrefix(labels, "_:)")) {
			return n
		}
	}
	return 0
}

func identifier(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c > 127
}

// lineNumber is the end of FILE:LINE, which no function's name has.
var lineNumber = regexp.MustCompile(`[^:]:[0-9]+$`)
