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
// Files are read up to a number of bytes.
func (p *Page) withText(single bool, most int) *index {
	whole := p.index
	whole.Units = slices.Clone(p.index.Units)
	var without []*unit
	for at := range whole.Units {
		if u := &whole.Units[at]; u.Text == "" && u.Kind == "line" && u.Line > 0 && u.Source >= 0 {
			without = append(without, u)
		}
	}
	// One file after the other, as a profile may name any number of large ones.
	slices.SortStableFunc(without, func(a, b *unit) int { return a.Source - b.Source })
	var text []string // nil if it cannot be read, or has changed
	source, left := -1, most
	for _, u := range without {
		if u.Source != source {
			if left < 0 {
				break
			}
			source = u.Source
			text, left = p.files[source].unchanged(single, left)
		}
		if u.Line <= len(text) {
			u.Text = lineText(text[u.Line-1])
		}
	}
	return &whole
}

// mostText is how many bytes of source files are read for the text of lines.
const mostText = 256 << 20

// unchanged are the lines of a file if it is the profiled one, or, unless its sum has to be known, if nothing is known
// against it; otherwise nil. left is how many bytes may be read, and then may still be read.
func (f *sourceFile) unchanged(mustKnow bool, left int) ([]string, int) {
	if f.sum == "" && mustKnow {
		return nil, left
	}
	text, err := sourcefile.Read(f.path)
	left -= len(text)
	if err != nil || f.sum != "" && sourcefile.Sum(text) != f.sum {
		return nil, left
	}
	return strings.Split(string(text), "\n"), left
}

// lineText is a line as a row shows it: without indentation, and without its end if it is long.
func lineText(line string) string {
	line = strings.Join(strings.Fields(tidy(line)), " ")
	if r := []rune(line); len(r) > longText {
		line = string(r[:longText]) + "…"
	}
	return line
}
