package profile

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// BuildIDs gives the build ids of the run's binaries, by path: those of the programs that it began
// with, and of all others that own a unit.
func (d *Data) BuildIDs() map[string]string {
	all := maps.Clone(d.Binaries)
	if all == nil {
		all = make(map[string]string)
	}
	maps.Copy(all, d.Run.BuildIDs)
	return all
}

// Named groups build ids by the last part of the binaries' paths, because a program may have been
// built into another directory.
func Named(ids map[string]string) map[string][]string {
	by := make(map[string][]string)
	for _, file := range slices.Sorted(maps.Keys(ids)) {
		name := path.Base(file)
		if id := ids[file]; !slices.Contains(by[name], id) {
			by[name] = append(by[name], id)
		}
	}
	return by
}

// differ says that two runs are known to be of different builds: a binary of both has another id
// now, or they began with programs that have nothing in common. A binary that only one run met, or
// with a build that only one run knows, says nothing.
func differ(a, b *Data) bool {
	of, to := a.BuildIDs(), b.BuildIDs()
	for file, id := range of {
		if other, both := to[file]; both && other != id {
			return true
		}
	}
	names := Named(to)
	for name, ids := range Named(of) {
		if other, both := names[name]; both && !common(ids, other) {
			return true
		}
	}
	x, y := slices.Collect(maps.Values(a.Run.BuildIDs)), slices.Collect(maps.Values(b.Run.BuildIDs))
	return len(x) > 0 && len(y) > 0 && !common(x, y)
}

func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(id string) bool { return slices.Contains(b, id) })
}

// Differ says whether some run of one side and some run of the other are known to be of different
// builds.
func Differ(old, new []*Data) bool {
	for _, a := range old {
		if slices.ContainsFunc(new, func(b *Data) bool { return differ(a, b) }) {
			return true
		}
	}
	return false
}

// buildsKnown says whether the build of each binary with a unit is known.
func (d *Data) buildsKnown() bool {
	ids := d.BuildIDs()
	for _, u := range d.Units {
		// the kernel, or a module of it
		if _, known := ids[u.Binary]; !known && u.Binary != "" && !strings.HasPrefix(u.Binary, "[") {
			return false
		}
	}
	return len(ids) > 0
}

// Builds is how many builds the runs are of, as far as is known, and the number of runs of unknown
// build.
func Builds(runs []*Data) (builds, unknown int) {
	var groups [][]*Data
	for _, d := range runs {
		if !d.Part && !d.buildsKnown() {
			unknown++
		}
		if len(d.BuildIDs()) == 0 {
			continue
		}
		one := []*Data{d}
		if i := slices.IndexFunc(groups, func(g []*Data) bool { return !Differ(g, one) }); i >= 0 {
			groups[i] = append(groups[i], d)
		} else {
			groups = append(groups, one)
		}
	}
	return len(groups), unknown
}

// Latest keeps the runs of the build that was run last, and the runs of unknown build. left is the
// number of runs of other builds.
func Latest(runs []*Data) (kept []*Data, left int) {
	var newest *Data
	for _, d := range runs {
		if len(d.BuildIDs()) > 0 && (newest == nil || !d.Run.Started.Before(newest.Run.Started)) {
			newest = d
		}
	}
	for _, d := range runs {
		if newest == nil || !differ(newest, d) {
			kept = append(kept, d)
		}
	}
	return kept, len(runs) - len(kept)
}
