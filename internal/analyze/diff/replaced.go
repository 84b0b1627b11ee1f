package diff

import (
	"path"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// A replacement is the lines of one function that are gone, and the new lines that came in their
// place. The most usual change of all is to rewrite a hot line or to remove it: then the CPU time of
// the lines that are gone is compared with that of the new lines in the same function.
//
// Lines that moved are not replaced: if a line's text is in another function now, the line is only
// gone. So is a line of a function of which nothing is left. Lines are recognised by their text, so a
// function has no replacement where a side lacks texts.
type replacement struct {
	gone, came []*analyze.Target
}

// A function is the function of a line, in any build.
type function struct{ file, name string }

func functionOf(t *analyze.Target) function {
	return function{path.Base(t.Unit.File), placeless(t.Unit.Func)}
}

type replacements map[function]*replacement

// of is the replacement of a line that is gone; nil if there is none.
func (r replacements) of(t *analyze.Target) *replacement {
	by := r[functionOf(t)]
	if t.Unit.Kind != "line" || by == nil || !slices.Contains(by.gone, t) {
		return nil
	}
	return by
}

// replacements finds the functions of which a line is gone and something is left.
func (c *Comparison) replacements(matches []match, same func(profile.Unit) bool) replacements {
	all := make(replacements)
	left := make(map[function]bool)
	for i := range c.New.Targets {
		left[functionOf(&c.New.Targets[i])] = true
	}
	newTexts := make(map[string]bool)   // of lines that were not there before
	textless := make(map[function]bool) // has new lines without text: they may have been there before
	for _, m := range matches {
		if m.old == nil && m.new.Unit.Kind == "line" {
			newTexts[m.new.Unit.Text] = true
			f := functionOf(m.new)
			textless[f] = textless[f] || m.new.Unit.Text == ""
		}
	}
	for _, m := range matches {
		if m.new != nil || m.old.Unit.Kind != "line" || m.old.Unit.Func == "" || same(m.old.Unit) {
			continue
		}
		f := functionOf(m.old)
		if m.old.Unit.Text == "" || newTexts[m.old.Unit.Text] || textless[f] || !left[f] {
			continue
		}
		if all[f] == nil {
			all[f] = &replacement{}
		}
		all[f].gone = append(all[f].gone, m.old)
	}
	for _, m := range matches {
		if m.old == nil && m.new.Unit.Kind == "line" {
			if by := all[functionOf(m.new)]; by != nil {
				by.came = append(by.came, m.new)
			}
		}
	}
	return all
}

// came says whether a line replaced others.
func (r replacements) came(t *analyze.Target) bool {
	return t.Unit.Kind == "line" && r[functionOf(t)] != nil
}
