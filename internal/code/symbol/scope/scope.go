// Package scope decides which code may be sped up, by the user's --include and --exclude KIND:GLOB, and by the
// default of symbol.Origin.
//
// Without --include the scope is the default: code of the program and of its own libraries, without the
// system's and the language's code. With --include the scope is only the included code, as in coz. So it
// may be system libraries and runtimes, or one directory alone. Excluded code is never in scope.
//
// Call Parse for each rule, put the rules into a Scope, then call WhyOutside or First for frames. The package
// is pure.
package scope

import (
	"fmt"
	"path"
	"strings"

	"whatif/internal/code/symbol"
)

// Kind says which name of the code a rule matches.
type Kind string

const (
	Binary Kind = "binary" // the executable or library with the code
	Source Kind = "source" // the source file of the line
	Func   Kind = "func"   // the function, inlined or not
)

// Rule matches code by one of its names.
type Rule struct {
	Kind Kind
	Glob string // a * stands for any text, including slashes

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

// String returns the rule as the user writes it.
func (r Rule) String() string { return string(r.Kind) + ":" + r.Glob }

// Scope has the rules of a run. The zero value is the default scope.
type Scope struct {
	Include, Exclude []Rule
	// Shown returns the user's path of a source file, see package sourcepath; nil if that is the recorded
	// path. A rule may match either path.
	Shown func(file string) string
}

// WhyOutside returns why a frame is not in scope, "" if it is in scope.
func (s *Scope) WhyOutside(o symbol.Origin, f symbol.Frame) string {
	if r := s.first(s.Exclude, o, f); r != nil {
		return "excluded by " + r.String()
	}
	if len(s.Include) == 0 {
		return o.WhyOutside(f)
	}
	if s.first(s.Include, o, f) == nil {
		if why := o.WhyOutside(f); why != "" {
			return why
		}
		return "not included"
	}
	return ""
}

// First returns the index of the frame to which a chain's time belongs, -1 if none is in scope: see
// symbol.FirstInScope.
func (s *Scope) First(o symbol.Origin, chain []symbol.Frame) int {
	return symbol.FirstInScope(chain, func(f symbol.Frame) bool { return s.WhyOutside(o, f) == "" })
}

// first returns the first rule that matches, nil if none does.
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

// matchPath reports whether a pattern matches a path or its last components, as for files on the command line.
// So parse.c, *.c, lib/* and /usr/src/* mean what they look like, and dir/* means a directory.
func matchPath(glob, p string) bool {
	if symbol.Glob(glob, p) {
		return true
	}
	if path.IsAbs(glob) {
		return false
	}
	return symbol.Glob("*/"+strings.TrimPrefix(glob, "./"), p)
}
