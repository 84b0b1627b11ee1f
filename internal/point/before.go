package point

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/code/symbol"
)

// Before records where a point was found before. Binaries that are loaded later must not widen
// the point's meaning. The zero value stands for a point that has not been found yet.
type Before struct {
	own    bool     // in a binary that is not the system's
	system []string // the system's libraries that have it, by their names up to .so
	file   string   // of a line: the source file
}

// Add records that the point was found at a site, in the binary of a name.
func (f *Before) Add(site Site, name string) {
	f.file = site.File
	if !isSystem(name) {
		f.own = true
	} else if stem := stem(name); !slices.Contains(f.system, stem) {
		f.system = append(f.system, stem)
	}
}

// leavesOut reports whether a binary's code is not meant by the point, given where the point was
// found before. The program's own code comes first: the system's libraries count only if no other
// binary has the pattern or the header's line. Once a system library has the point, only
// libraries of the same name, in other processes, are meant.
func (f *Before) leavesOut(spec Spec, name string) bool {
	switch {
	case spec.Kind == USDT || spec.Binary != "" || !isSystem(name):
		return false
	case f.own:
		return true
	}
	return spec.severalBinaries() && len(f.system) > 0 && !slices.Contains(f.system, stem(name))
}

// severalBinaries reports whether the point may be in more than one binary. A plain function name
// means the first binary that has it.
func (s *Spec) severalBinaries() bool { return s.Kind != Func || strings.Contains(s.Func, "*") }

func isSystem(name string) bool { return symbol.Origin{Path: name}.System() }

// stem returns a library's file name without the version: the part before .so.
func stem(name string) string {
	stem, _, _ := strings.Cut(path.Base(name), ".so")
	return stem
}
