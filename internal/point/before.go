package point

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/symbol"
)

// Before is where a point was found already. What is met while the program runs must not make it mean more than
// it did at the start: the zero value says that it was found nowhere yet.
type Before struct {
	own    bool     // in code that is not the system's
	system []string // in libraries of the system: their names up to .so
	file   string   // of a line: the source file
}

// Add notes a site in a binary.
func (f *Before) Add(site Site, name string) {
	f.file = site.File
	if !isSystem(name) {
		f.own = true
	} else if stem := stem(name); !slices.Contains(f.system, stem) {
		f.system = append(f.system, stem)
	}
}

// leavesOut tells of a binary that what was found before is all that is meant. In the first place
// that is the program's own: what the system has of a pattern, or of a header's lines, counts if there is nothing
// else. Other processes have libraries of the same name.
func (f *Before) leavesOut(spec Spec, name string) bool {
	switch {
	case spec.Kind == USDT || spec.Binary != "" || !isSystem(name):
		return false
	case f.own:
		return true
	}
	return spec.severalBinaries() && len(f.system) > 0 && !slices.Contains(f.system, stem(name))
}

// severalBinaries tells whether what is found in one binary may go on in another: a plain function's name
// means the first that has it.
func (s *Spec) severalBinaries() bool { return s.Kind != Func || strings.Contains(s.Func, "*") }

func isSystem(name string) bool { return symbol.Origin{Path: name}.System() }

// stem is a library's name without what differs between its versions.
func stem(name string) string {
	stem, _, _ := strings.Cut(path.Base(name), ".so")
	return stem
}
