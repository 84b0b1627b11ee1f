// Package sourcepath turns the paths of source files that a compiler recorded
// into those that a user knows: --source-path OLD=NEW.
//
// A binary may have been built elsewhere, in a container or by a distribution
// (/build/app-1.2), or its paths may have been made independent of where that
// was: -fdebug-prefix-map's replacement, Rust's /rustc/HASH, Go's -trimpath,
// which leaves module@version/file. OLD is what such paths begin with, whole
// components of it; a * in it stands for any text within one component. The
// first rule that fits is applied, once.
//
// It is pure: whether a file exists is not looked at.
package sourcepath

import (
	"fmt"
	"path"
	"strings"
)

// Rule replaces the beginning of a path.
type Rule struct{ Old, New string }

// Map is rules in the order in which they are tried. A nil Map changes nothing.
type Map []Rule

// Parse reads OLD=NEW. NEW may be empty: then what is left is relative.
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

// Apply is the path that a user knows a file by.
func (m Map) Apply(file string) string {
	for _, r := range m {
		if rest, ok := after(r.Old, file); ok {
			return joined(r.New, rest)
		}
	}
	return file
}

// Undo is the path that the compiler may have recorded for a file that the user
// names: the inverse of Apply, as far as OLD says it.
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

// after cuts a prefix of whole components off a path.
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
