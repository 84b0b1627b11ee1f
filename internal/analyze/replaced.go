package analyze

import (
	"path"

	"whatif/internal/profile"
)

// A replacement is what became of lines that are not there any more: the most usual change of all is to write a hot line
// anew, or to do without it. Then its cost is compared with that of what was not there before in the same function.
//
// Lines that moved into another function are not found that way: where nothing of a function is left nothing is said.
type replacement struct {
	gone, came []*Target
}

// A function is that of a line, in whatever build.
type function struct{ binary, name string }

func (t *Target) function() function {
	return function{path.Base(t.Unit.Binary), t.Unit.Func}
}

type replacements map[function]*replacement

// of is what became of a line that is gone; nil if that is not known.
func (r replacements) of(t *Target) *replacement {
	if t.Unit.Kind != "line" {
		return nil
	}
	return r[t.function()]
}

// replacements are those of all functions from which a line is gone, if there is still something of the function.
func (c *Comparison) replacements(matches []match, same func(profile.Unit) bool) replacements {
	all := make(replacements)
	left := make(map[function]bool)
	for i := range c.New.Targets {
		left[c.New.Targets[i].function()] = true
	}
	for _, m := range matches {
		if m.new == nil && m.old.Unit.Kind == "line" && m.old.Unit.Func != "" && !same(m.old.Unit) && left[m.old.function()] {
			by := all[m.old.function()]
			if by == nil {
				by = &replacement{}
				all[m.old.function()] = by
			}
			by.gone = append(by.gone, m.old)
		}
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
