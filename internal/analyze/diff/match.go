package diff

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// How a unit of one build was found in another. The values are those of JSON reports.
const (
	SameUnit   = "same"   // its binary is the same, or the unit has a name of its own
	SameText   = "text"   // a line of the same function with the same text
	SameNumber = "number" // a line of the same function with the same number: its text is unknown
	// Replaced says that the line is gone; new lines of its function took its place.
	Replaced = "replaced"
)

// A match is a unit of two profiles; nil where one of them does not have it.
type match struct {
	old, new *analyze.Target
	how      string
}

// lineKey is what a line keeps when lines are added above it.
type lineKey struct{ file, function, text string }

// unnamedAt matches how package symbol calls a lambda, or another type without a name: by its place.
var unnamedAt = regexp.MustCompile(`\{(lambda|unnamed class) at ([^{}]*):\d+\}`)

// placeless is a function's name without the lines of lambdas, which move as other lines do.
func placeless(name string) string { return unnamedAt.ReplaceAllString(name, "{$1 at $2}") }

// sameBuilds returns a function that says of a unit whether its binary is known to be of the same
// build in both results.
func sameBuilds(old, new *analyze.Result) func(profile.Unit) bool {
	a, b := profile.Named(buildsOf(old)), profile.Named(buildsOf(new))
	sorted := func(ids []string) []string { return slices.Sorted(slices.Values(ids)) }
	return func(u profile.Unit) bool {
		binary := path.Base(u.Binary)
		return len(a[binary]) > 0 && slices.Equal(sorted(a[binary]), sorted(b[binary]))
	}
}

// buildsOf gives all build ids of each path, in one string. If there are several, the string is equal
// only to that of the same builds.
func buildsOf(r *analyze.Result) map[string]string {
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

// allTried says whether all units that were tried are in binaries of the same build, and there is at
// least one. Waits, paths and kernel code are in no binary, so they have no build.
func allTried(r *analyze.Result, same func(profile.Unit) bool) (yes bool) {
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Tried == 0 || t.Unit.Kind == "wait" || t.Unit.Kind == "path" || strings.HasPrefix(t.Unit.Binary, "[") {
			continue
		}
		if yes = same(t.Unit); !yes {
			return false
		}
	}
	return yes
}

// Matches gives for each of now's targets the index of the same target in before, or -1.
func Matches(before, now *analyze.Result) []int {
	place := make(map[*analyze.Target]int, len(before.Targets))
	for i := range before.Targets {
		place[&before.Targets[i]] = i
	}
	of := make(map[*analyze.Target]int, len(now.Targets))
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

// matchUnits finds the units of one result in another. Lines move from build to build, so they are
// matched by function and text; among several with one text, by their order; without a text, by
// their number.
func matchUnits(old, new []analyze.Target, same func(profile.Unit) bool) []match {
	m := matcher{used: make([]bool, len(new)), of: make([]match, len(old))}
	for i := range old {
		m.of[i].old = &old[i]
	}
	exact := func(u profile.Unit) any {
		k := u.Key()
		k.Binary = path.Base(k.Binary)
		if !same(u) {
			k.File, k.Name, k.Func = path.Base(k.File), placeless(k.Name), placeless(k.Func)
		}
		if u.Kind != "line" && u.Kind != "file" {
			k.Line = 0 // the line at which a function begins is no part of its name
		}
		return k
	}
	m.pass(old, new, SameUnit, func(u profile.Unit) bool { return u.Kind != "line" || same(u) }, exact)
	moved := func(u profile.Unit) bool { return u.Kind == "line" && !same(u) }
	m.pass(old, new, SameText, func(u profile.Unit) bool { return moved(u) && u.Text != "" },
		func(u profile.Unit) any { return lineKey{path.Base(u.File), placeless(u.Func), u.Text} })
	// The file may have another name now.
	m.pass(old, new, SameText, func(u profile.Unit) bool { return moved(u) && u.Text != "" && u.Func != "" },
		func(u profile.Unit) any { return lineKey{"", placeless(u.Func), u.Text} })
	type numbered struct{ key, function any }
	m.pass(old, new, SameNumber, func(u profile.Unit) bool { return moved(u) && u.Text == "" },
		func(u profile.Unit) any { return numbered{exact(u), placeless(u.Func)} })
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

// pass matches the units with the same key, if both sides have as many of them, in the order of their
// lines.
func (m *matcher) pass(
	old, new []analyze.Target, how string, fits func(profile.Unit) bool, key func(profile.Unit) any,
) {
	gather := func(of []analyze.Target, taken func(int) bool) map[any][]int {
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
