// Package scope says which code the user wants to hear of: --include and
// --exclude KIND:GLOB, on top of the default that package symbol's Origin gives.
//
// Without --include the scope is the default: code of the program and of its own
// libraries, not what the system or the language brought along. With any
// --include it is what is included and nothing else, as in coz: so system
// libraries and runtimes can be looked at, and one directory alone. What is
// excluded is out in any case.
//
// It is pure.
package scope

import (
	"fmt"
	"path"
	"strings"

	"whatif/internal/symbol"
)

// Kind is what a rule is about.
type Kind string

const (
	Binary Kind = "binary" // the executable or library that the code is in
	Source Kind = "source" // the source file of the line
	Func   Kind = "func"   // the function, inlined or not
)

// Rule fits code by one of its names.
type Rule struct {
	Kind Kind
	Glob string // a * stands for any text, slashes too

	fn symbol.FuncMatcher
}

// Parse reads KIND:GLOB.
func Parse(s string) (Rule, error) {
	kind, glob, _ := strings.Cut(strings.TrimSpace(s), ":")
	r := Rule{Kind: Kind(kind), Glob: strings.TrimSpace(glob)}
	if r.Kind != Binary && r.Kind != Source && r.Kind != Func || r.Glob == "" {
		return Rule{}, fmt.Errorf("parsing scope %q: expected binary:GLOB, source:GLOB or func:GLOB", s)
	}
	if r.Kind == Func {
		r.fn = symbol.MatchFunc(r.Glob)
	}
	return r, nil
}

// String is the rule as it is written.
func (r Rule) String() string { return string(r.Kind) + ":" + r.Glob }

// Scope is the rules of a run. The zero value is the default scope.
type Scope struct {
	Include, Exclude []Rule
	// Shown is the path that the user knows a source file by, see package
	// sourcepath; nil: as it was recorded. Rules may be about either.
	Shown func(file string) string
}

// Outside says why a frame is out of scope; "" if it is in.
func (s *Scope) Outside(o symbol.Origin, f symbol.Frame) string {
	if r := s.first(s.Exclude, o, f); r != nil {
		return "excluded by " + r.String()
	}
	if len(s.Include) == 0 {
		return o.Outside(f)
	}
	if s.first(s.Include, o, f) == nil {
		if why := o.Outside(f); why != "" {
			return why
		}
		return "not included"
	}
	return ""
}

// First gives the index of the frame that a chain is blamed on, -1 if none is in
// scope.
func (s *Scope) First(o symbol.Origin, chain []symbol.Frame) int {
	return symbol.First(chain, func(f symbol.Frame) bool { return s.Outside(o, f) == "" })
}

// first gives the first rule that fits.
func (s *Scope) first(rules []Rule, o symbol.Origin, f symbol.Frame) *Rule {
	for i := range rules {
		r := &rules[i]
		fits := false
		switch r.Kind {
		case Binary:
			fits = matchPath(r.Glob, strings.TrimSuffix(o.Path, " (deleted)"))
		case Source:
			fits = f.File != "" && (matchPath(r.Glob, f.File) || s.Shown != nil && matchPath(r.Glob, s.Shown(f.File)))
		case Func:
			fits = r.fn.Frame(f)
		}
		if fits {
			return r
		}
	}
	return nil
}

// matchPath reports whether a pattern fits a path or, as a file that is named on
// the command line does, its end from the beginning of a component on. So
// parse.c, *.c, lib/*, and /usr/src/* are all what they look like, and a
// directory is named dir/*.
func matchPath(glob, p string) bool {
	if symbol.Glob(glob, p) {
		return true
	}
	if path.IsAbs(glob) {
		return false
	}
	return symbol.Glob("*/"+strings.TrimPrefix(glob, "./"), p)
}
