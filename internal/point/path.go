package point

import (
	"regexp"
	"strings"
)

// splitPath splits CODE<CALLER<CALLER… at its separators. Two kinds of < are part of a name: in an
// operator (operator<, operator<<, Swift's main.Size.<(_:_:)), and before template arguments, where
// a later > closes it. So f<int> is one name, and a<f<int> is a called from f<int>.
func splitPath(s string) []string {
	var open []int // positions of open brackets
	for i := 0; i < len(s); i++ {
		if n := operatorAt(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch s[i] {
		case '<', '(':
			open = append(open, i)
		case ')':
			// A < that is still open inside the parentheses was no bracket.
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
		if s[i] == '(' { // never closed: the rest cannot be split
			break
		}
		parts = append(parts, strings.TrimSpace(s[from:i]))
		from = i + 1
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// operators are the C++ operators with angle brackets, each before its own prefixes.
var operators = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}

// operatorAt returns the length of the operator's name that begins at i, 0 if none does. Behind
// the name comes the end, a blank, the parameters, template arguments or a separator: so
// operator<<f is operator<, called from f.
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

// swiftOperatorAt returns the length of the Swift operator's name that begins at i, 0 if none
// does. Before it is the dot behind its type or module, behind it the labels of its parameters.
func swiftOperatorAt(s string, i int) int {
	if i == 0 || s[i-1] != '.' {
		return 0
	}
	rest := strings.TrimLeft(s[i:], "/=-+!*%<>&|^~?.")
	n := len(s) - i - len(rest)
	for _, fixity := range []string{"", " prefix", " postfix"} {
		labels, ok := strings.CutPrefix(rest, fixity+"(_:")
		if ok && n > 0 && (strings.HasPrefix(labels, ")") || strings.HasPrefix(labels, "_:)")) {
			return n
		}
	}
	return 0
}

func identifier(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c > 127
}

// lineNumber matches the end of FILE:LINE. No function's name ends so.
var lineNumber = regexp.MustCompile(`[^:]:[0-9]+$`)
