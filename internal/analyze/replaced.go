package analyze

import (
	"path"

	"whatif/internal/profile"
)

// A replacement is what became of lines that are not there any more: the most usual change of all is to write a hot line
// anew, or to do without it. Then its cost is compared with that of what was not there before in the same function.
//
// Lines that moved are not replaced: one whose text is in another function now is only gone, and so is what was in a function of
// which nothing is left. Lines are told by their text, so nothing is said where a side has none.
type replacement struct {
	gone, came []*Target
}

// A function is that of a line, in whatever build.
type function struct{ file, name string }

func (t *Target) function() function {
	return function{path.Base(t.Unit.File), t.Unit.Func}
}

type replacements map[function]*replacement

// of is what became of a line that is gone; nil if that is not known.
func (r replacements) of(t *Target) *replacement {
	if t.Unit.Kind != "line" || r[t.function()] == nil {
		return nil
	}
	for _, g := range r[t.function()].gone {
		if g == t {
			return r[t.function()]
		}
	}
	return nil
}

// replacements are those of all functions from which a line is gone, if there is still something of the function.
func (c *Comparison) replacements(matches []match, same func(profile.Unit) bool) replacements {
	all := make(replacements)
	left := make(map[function]bool)
	for i := range c.New.Targets {
		left[c.New.Targets[i].function()] = true
	}
	elsewhere := make(map[string]bool) // texts of lines that were not there before
	untold := make(map[function]bool)  // has lines of which nobody knows whether they were
	for _, m := range matches {
		if m.old == nil && m.new.Unit.Kind == "line" {
			elsewhere[m.new.Unit.Text] = true
			untold[m.new.function()] = untold[m.new.function()] || m.new.Unit.Text == ""
		}
	}
	for _, m := range matches {
		if m.new != nil || m.old.Unit.Kind != "line" || m.old.Unit.Func == "" || same(m.old.Unit) {
			continue
		}
		f := m.old.function()
		if m.old.Unit.Text == "" || elsewhere[m.old.Unit.Text] || untold[f] || !left[f] {
			continue
		}
		if all[f] == nil {
			all[f] = &replacement{}
		}
		all[f].gone = append(all[f].gone, m.old)
	}
	for _, m := range matches {
		if m.old == nil && m.new.Unit.Kind == "line" {
			if by := all[m.new.function()]; by != nil {
				by.came = append(by.came, m.new)
			}
		}
	}
	return all
}

// came says whether a line is what replaced others.
func (r replacements) came(t *Target) bool {
	return t.Unit.Kind == "line" && r[t.function()] != nil
}
