package report

import (
	"path"
	"strconv"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// A namer says how a unit is shown.
type namer func(profile.Unit) string

// unitNames gives the name of each unit as it is shown: paths as short as they
// can be without being ambiguous among all units of the result, whether they are
// shown or not, so that a name does not depend on what else is. What is shown can
// be given to -t.
func unitNames(units []profile.Unit) namer {
	file, binary := fileNames(units), binaryNames(units)
	return func(u profile.Unit) string {
		long, short := u.File, file[u.File]
		if u.Kind == "binary" {
			long, short = u.Binary, binary[u.Binary]
		}
		if u.Kind == "func" && strings.HasPrefix(u.Binary, "[") {
			return u.Name + " " + u.Binary // the kernel's, or a module's of it
		}
		suffix := ""
		if u.Kind == "line" {
			suffix = ":" + strconv.Itoa(u.Line)
		}
		// Functions are not named after a file, nor is what other tools call as they like.
		if short == "" || u.Name != path.Base(long)+suffix {
			return u.Name
		}
		return short + suffix
	}
}

// fileNames is how the files of all units are shown.
func fileNames(units []profile.Unit) map[string]string {
	files := make([]string, len(units))
	for i, u := range units {
		files[i] = u.File
	}
	return shortPaths(files)
}

// binaryNames is how their binaries are shown.
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

// shortPaths gives for each path its shortest end, from the beginning of a
// component on, that none of the others ends in: parse.c, or a/parse.c and
// b/parse.c. A path that is itself the end of another stays whole.
func shortPaths(paths []string) map[string]string {
	byBase := map[string][]string{}
	short := map[string]string{}
	for _, p := range paths {
		if _, seen := short[p]; p == "" || seen {
			continue
		}
		short[p] = p
		if base := path.Base(p); lastComponents(p, 1) == base { // else no file: it ends in a slash
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
				case end != p: // else nothing can be added
					rest = append(rest, p)
				}
			}
			group = rest
		}
	}
	return short
}

// lastComponents is the end of a path with n components, all of it if it has
// no more than that.
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
