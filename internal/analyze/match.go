package analyze

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/profile"
)

// How a unit of one build was found in another.
const (
	SameUnit   = "same"   // its binary is the same, or the unit has a name of its own
	SameText   = "text"   // a line of the same function with the same text
	SameNumber = "number" // a line of the same function with the same number: nothing else is known of it
	// Replaced: it is gone, and what is there in its place is the lines of its function that were not there before.
	Replaced = "replaced"
)

// A match is a unit of two profiles; nil where it is in one of them only.
type match struct {
	old, new *Target
	how      string
}

// lineKey is what a line keeps when others are written above it.
type lineKey struct{ file, function, text string }

// sameBuilds tells of a unit whether the binary that it is in is known to be of the same build in both results.
func sameBuilds(old, new *Result) func(profile.Unit) bool {
	a, b := profile.Named(old.builds()), profile.Named(new.builds())
	return func(u profile.Unit) bool {
		ids := a[path.Base(u.Binary)]
		return len(ids) > 0 && slices.Equal(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(b[path.Base(u.Binary)])))
	}
}

// builds are those of all runs, by path and build: with several, none is the build of a path.
func (r *Result) builds() map[string]string {
	met := map[string][]string{}
	for _, run := range r.Runs {
		for file, id := range run.BuildIDs {
			met[file] = append(met[file], id)
		}
	}
	all := make(map[string]string, len(met))
	for file, ids := range met {
		slices.Sort(ids)
		all[file] = strings.Join(slices.Compact(ids), " ")
	}
	return all
}

// allTried says whether all units that were tried are in binaries of the same build; there has to be one. What
// is in no binary, but in what threads do or in the kernel, has no build.
func allTried(r *Result, same func(profile.Unit) bool) (yes bool) {
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Tried > 0 && t.Unit.Kind != "wait" && t.Unit.Kind != "path" && !strings.HasPrefix(t.Unit.Binary, "[") {
			if yes = same(t.Unit); !yes {
				return false
			}
		}
	}
	return yes
}

// Matches says for each of now's targets which of before's it is, -1 for none.
func Matches(before, now *Result) []int {
	place := make(map[*Target]int, len(before.Targets))
	for i := range before.Targets {
		place[&before.Targets[i]] = i
	}
	of := make(map[*Target]int, len(now.Targets))
	for _, m := range matchUnits(before.Targets, now.Targets, sameBuilds(before, now)) {
		if m.old != nil && m.new != nil {
			of[m.new] = place[m.old]
		}
	}
	all := make([]int, len(now.Targets))
	for i := range all {
		all[i] = -1
		if at, ok := of[&now.Targets[i]]; ok {
			all[i] = at
		}
	}
	return all
}

// matchUnits finds the units of one result in another. Lines move from build to build:
// they are known again by their function and their text, the first of several by being
// the first; where there is no text, by their number.
func matchUnits(old, new []Target, same func(profile.Unit) bool) []match {
	m := matcher{used: make([]bool, len(new)), of: make([]match, len(old))}
	for i := range old {
		m.of[i].old = &old[i]
	}
	exact := func(u profile.Unit) any {
		k := u.Key()
		k.Binary = path.Base(k.Binary)
		if !same(u) {
			k.File = path.Base(k.File)
		}
		if u.Kind != "line" && u.Kind != "file" {
			k.Line = 0 // where a function begins is no part of its name
		}
		return k
	}
	m.pass(old, new, SameUnit, func(u profile.Unit) bool { return u.Kind != "line" || same(u) }, exact)
	moved := func(u profile.Unit) bool { return u.Kind == "line" && !same(u) }
	m.pass(old, new, SameText, func(u profile.Unit) bool { return moved(u) && u.Text != "" },
		func(u profile.Unit) any { return lineKey{path.Base(u.File), u.Func, u.Text} })
	// The file may have another name now.
	m.pass(old, new, SameText, func(u profile.Unit) bool { return moved(u) && u.Text != "" && u.Func != "" },
		func(u profile.Unit) any { return lineKey{"", u.Func, u.Text} })
	type numbered struct{ key, function any }
	m.pass(old, new, SameNumber, func(u profile.Unit) bool { return moved(u) && u.Text == "" },
		func(u profile.Unit) any { return numbered{exact(u), u.Func} })
	all := m.of
	for j := range new {
		if !m.used[j] {
			all = append(all, match{new: &new[j]})
		}
	}
	return all
}

type matcher struct {
	used []bool
	of   []match
}

// pass matches what has the same key on both sides, as often on one as on the
// other, by the order of lines.
func (m *matcher) pass(old, new []Target, how string, fits func(profile.Unit) bool, key func(profile.Unit) any) {
	gather := func(of []Target, taken func(int) bool) map[any][]int {
		by := map[any][]int{}
		for i := range of {
			if u := of[i].Unit; fits(u) && !taken(i) {
				by[key(u)] = append(by[key(u)], i)
			}
		}
		for _, list := range by {
			slices.SortStableFunc(list, func(a, b int) int { return of[a].Unit.Line - of[b].Unit.Line })
		}
		return by
	}
	to := gather(new, func(j int) bool { return m.used[j] })
	for k, from := range gather(old, func(i int) bool { return m.of[i].new != nil }) {
		if there := to[k]; len(there) == len(from) {
			for n, i := range from {
				m.of[i].new, m.of[i].how = &new[there[n]], how
				m.used[there[n]] = true
			}
		}
	}
}
