package web

import (
	"slices"
	"strings"

	"whatif/internal/code/sourcefile"
)

// longText is how many characters of a unit's line stand in its row.
const longText = 120

// recordText notes the text of the units' lines that runs have recorded. A file that was changed since does not matter.
func (p *Page) recordText() {
	for s, r := range p.results {
		for at, i := range p.targets[s] {
			if u := &p.index.Units[at]; i >= 0 && u.Text == "" && r.Targets[i].Unit.Line > 0 {
				u.Text = lineText(r.Targets[i].Unit.Text)
			}
		}
	}
}

// withText is the index with the text of the lines that no run has recorded, from the source files as they are now, by
// the rules of Page.source: a page that is given away (single) has text only of files that are known to be unchanged.
func (p *Page) withText(single bool) *index {
	whole := p.index
	whole.Units = slices.Clone(p.index.Units)
	lines := map[int][]string{} // by source; nil if it cannot be read, or has changed
	for at := range whole.Units {
		u := &whole.Units[at]
		if u.Text != "" || u.Kind != "line" || u.Line <= 0 || u.Source < 0 {
			continue
		}
		text, known := lines[u.Source]
		if !known {
			text = p.files[u.Source].unchanged(single)
			lines[u.Source] = text
		}
		if u.Line <= len(text) {
			u.Text = lineText(text[u.Line-1])
		}
	}
	return &whole
}

// unchanged are the lines of a file if it is the profiled one, or, unless its sum has to be known, if nothing is known
// against it; otherwise nil.
func (f *sourceFile) unchanged(mustKnow bool) []string {
	if f.sum == "" && mustKnow {
		return nil
	}
	text, err := sourcefile.Read(f.path)
	if err != nil || f.sum != "" && sourcefile.Sum(text) != f.sum {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// lineText is a line as a row shows it: without indentation, and without its end if it is long.
func lineText(line string) string {
	line = strings.Join(strings.Fields(tidy(line)), " ")
	if r := []rune(line); len(r) > longText {
		line = string(r[:longText]) + "…"
	}
	return line
}
