// Package sourcepath turns the source paths that a compiler recorded into paths that the user
// knows, by rules of the form OLD=NEW (--source-path).
//
// A binary may have been built elsewhere: in a container or by a distribution (/build/app-1.2).
// Or the build replaced its paths: -fdebug-prefix-map, Rust's /rustc/HASH, or Go's -trimpath,
// which leaves module@version/file. OLD is the beginning of such paths, in whole components; a *
// in OLD stands for any text within one component. The first rule that fits is applied, once.
//
// Call Parse for each rule, then Apply on recorded paths and Undo on paths from the user. The
// package is pure: it does not check whether a file exists.
package sourcepath

import (
	"fmt"
	"path"
	"strings"
)

// Rule replaces the beginning of a path.
type Rule struct{ Old, New string }

// Map is a list of rules, in the order in which they are tried. A nil Map changes nothing.
type Map []Rule

// Parse reads OLD=NEW. If NEW is empty, the rest of the path becomes relative.
func Parse(s string) (Rule, error) {
	before, after, ok := strings.Cut(s, "=")
	if !ok || before == "" {
		return Rule{}, fmt.Errorf("parsing source path %q: expected OLD=NEW, OLD what the paths of a build begin with", s)
	}
	return Rule{Old: clean(before), New: clean(after)}, nil
}

func clean(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// Apply returns the user's path of a file that the compiler recorded.
func (m Map) Apply(file string) string {
	for _, r := range m {
		if rest, ok := after(r.Old, file); ok {
			return joined(r.New, rest)
		}
	}
	return file
}

// Undo returns the path that the compiler may have recorded for a file that the user names: the
// inverse of Apply. Rules with a * or without NEW have no inverse and are skipped.
func (m Map) Undo(file string) string {
	for _, r := range m {
		if r.New == "" || strings.Contains(r.Old, "*") {
			continue
		}
		if rest, ok := after(r.New, file); ok {
			return joined(r.Old, rest)
		}
	}
	return file
}

// after removes a prefix of whole components from a path.
func after(prefix, file string) (rest string, ok bool) {
	if prefix == "/" {
		return strings.TrimPrefix(file, "/"), strings.HasPrefix(file, "/")
	}
	rest = file
	for p := range strings.SplitSeq(prefix, "/") {
		component, left, _ := strings.Cut(rest, "/")
		if fits, err := path.Match(p, component); p != component && (err != nil || !fits) || rest == "" && p != "" {
			return "", false
		}
		rest = left
	}
	return rest, true
}

func joined(dir, rest string) string {
	switch {
	case dir == "":
		return rest
	case rest == "":
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + rest
}
