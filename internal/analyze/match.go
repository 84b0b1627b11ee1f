package analyze

import (
	"path"
	"slices"

	"whatif/internal/profile"
)

// How a unit of one build was found in another.
const (
	SameUnit   = "same"   // the build is the same, or the unit has a name of its own
	SameText   = "text"   // a line of the same function with the same text
	SameNumber = "number" // a line of the same function with the same number: nothing else is known of it
)

// A match is a unit of two profiles; nil where it is in one of them only.
type match struct {
	old, new *Target
	how      string
}

// lineKey is what a line keeps when others are written above it.
type lineKey struct{ file, function, text string }

// matchUnits finds the units of one result in another. Lines move from build to build:
// they are known again by their function and their text, the first of several by being
// the first; where there is no text, by their number.
func matchUnits(old, new []Target, sameBuild bool) []match {
	m := matcher{used: make([]bool, len(new)), of: make([]match, len(old))}
	for i := range old {
		m.of[i].old = &old[i]
	}
	exact := func(u profile.Unit) any {
		k := u.Key()
		k.Binary = path.Base(k.Binary)
		if !sameBuild {
			k.File = path.Base(k.File)
		}
		if u.Kind != "line" && u.Kind != "file" {
			k.Line = 0 // where a function begins is no part of its name
		}
		return k
	}
	named := func(u profile.Unit) bool { return sameBuild || u.Kind != "line" }
	m.pass(old, new, SameUnit, named, exact)
	if !sameBuild {
		m.pass(old, new, SameText, func(u profile.Unit) bool { return u.Kind == "line" && u.Text != "" },
			func(u profile.Unit) any { return lineKey{path.Base(u.File), u.Func, u.Text} })
		// The file may have another name now.
		m.pass(old, new, SameText, func(u profile.Unit) bool { return u.Kind == "line" && u.Text != "" && u.Func != "" },
			func(u profile.Unit) any { return lineKey{"", u.Func, u.Text} })
		m.pass(old, new, SameNumber, func(u profile.Unit) bool { return u.Kind == "line" && u.Text == "" }, exact)
	}
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
