package report

import (
	"path"
	"strconv"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// A namer gives the name under which a unit is shown.
type namer func(profile.Unit) string

// unitNames gives the name of each unit. Its path is as short as it can be without being ambiguous
// among all units of the result, shown or not, so the name does not depend on what else is shown.
// targetSpec has it as -t takes it.
func unitNames(units []profile.Unit) namer {
	file, binary := fileNames(units), binaryNames(units)
	return func(u profile.Unit) string {
		long, short := u.File, file[u.File]
		if u.Kind == "binary" {
			long, short = u.Binary, binary[u.Binary]
		}
		if u.Kind == "func" && strings.HasPrefix(u.Binary, "[") {
			return u.Name + " " + u.Binary // of the kernel, or of a module
		}
		suffix := ""
		if u.Kind == "line" {
			suffix = ":" + strconv.Itoa(u.Line)
		}
		// Functions have no file in their name, and other tools choose names as they like.
		if short == "" || u.Name != path.Base(long)+suffix {
			return u.Name
		}
		return short + suffix
	}
}

// fileNames gives the shown name of each unit's file.
func fileNames(units []profile.Unit) map[string]string {
	files := make([]string, len(units))
	for i, u := range units {
		files[i] = u.File
	}
	return shortPaths(files)
}

// binaryNames gives the shown name of each unit's binary.
func binaryNames(units []profile.Unit) map[string]string {
	binaries := make([]string, len(units))
	for i, u := range units {
		binaries[i] = u.Binary
	}
	return shortPaths(binaries)
}

// unitsOf is the units of all targets.
func unitsOf(r *analyze.Result) []profile.Unit {
	units := make([]profile.Unit, len(r.Targets))
	for i := range r.Targets {
		units[i] = r.Targets[i].Unit
	}
	return units
}

// shortPaths gives for each path its shortest end, beginning with a whole component, that no other
// path ends in: parse.c, or a/parse.c and b/parse.c. A path that is itself the end of another stays
// whole.
func shortPaths(paths []string) map[string]string {
	byBase := map[string][]string{}
	short := map[string]string{}
	for _, p := range paths {
		if _, seen := short[p]; p == "" || seen {
			continue
		}
		short[p] = p
		if base := path.Base(p); lastComponents(p, 1) == base { // otherwise it is no file: it ends in a slash
			byBase[base] = append(byBase[base], p)
		}
	}
	for _, group := range byBase {
		for n := 1; len(group) > 0; n++ {
			count := map[string]int{}
			for _, p := range group {
				count[lastComponents(p, n)]++
			}
			var rest []string
			for _, p := range group {
				switch end := lastComponents(p, n); {
				case count[end] == 1:
					short[p] = end
				case end != p: // otherwise there is nothing to add
					rest = append(rest, p)
				}
			}
			group = rest
		}
	}
	return short
}

// lastComponents is the last n components of a path, or all if it has no more.
func lastComponents(p string, n int) string {
	at := len(p)
	for ; n > 0; n-- {
		at = strings.LastIndexByte(p[:at], '/')
		if at < 0 || at == 0 && n > 1 {
			return p
		}
	}
	return p[at+1:]
}
