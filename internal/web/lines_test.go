package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/code/sourcefile"
)

// TestLineText: a row has the text of its line as the run met it, or from the file, if that is known not to be another
// one by now. A page that is given away takes nothing from a file of which nothing is known.
func TestLineText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "parse.c")
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("\tline(%d,\t1);\u202e\n", i+1)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	const fromFile, recorded = "line(18, 1);\\u202e", "sum += row[i];"
	for _, c := range []struct {
		name, sum, recorded string
		single, view        string // what a file and the server show
	}{
		{"recorded", "0123", recorded, recorded, recorded},
		{"as it was", sourcefile.Sum([]byte(text)), "", fromFile, fromFile},
		{"changed", "0123", "", "", ""},
		{"unknown", "", "", "", fromFile},
		{"long", "", strings.Repeat("x", 300), strings.Repeat("x", longText) + "…", strings.Repeat("x", longText) + "…"},
	} {
		d := world{file: file}.made()
		d.Sources[file] = c.sum
		u := d.Units[1]
		u.Text = c.recorded
		d.Units[1] = u
		p := pageOf(d)
		for single, want := range map[bool]string{true: c.single, false: c.view} {
			for _, u := range p.withText(single, mostText).Units {
				if u.Name == "parse.c:18" && u.Text != want {
					t.Errorf("%s, in one file %v: %q, want %q", c.name, single, u.Text, want)
				}
				if u.Name == "spin.c:7" && u.Text != "" {
					t.Errorf("%s: %q of a file that is not there", c.name, u.Text)
				}
			}
		}
	}
}

// TestMuchText: a profile may name any number of large files; no more of them is read than is allowed.
func TestMuchText(t *testing.T) {
	d := world{}.made()
	d.Sampled = map[uint32]int64{}
	dir := t.TempDir()
	for i := range 50 {
		file := filepath.Join(dir, fmt.Sprintf("%d.c", i))
		if err := os.WriteFile(file, []byte("int line;\n"+strings.Repeat("x\n", 1000)), 0o644); err != nil {
			t.Fatal(err)
		}
		d.Sources[file] = ""
		u := d.Units[5]
		u.ID, u.Name, u.File = uint32(1000+i), fmt.Sprintf("%d.c:1", i), file
		d.Units[u.ID] = u
		d.Sampled[u.ID] = 100
	}
	p := pageOf(d)
	for most, want := range map[int]int{mostText: 50, 10_000: 5, -1: 0} {
		n := 0
		for _, u := range p.withText(false, most).Units {
			if u.Text == "int line;" {
				n++
			}
		}
		if n != want {
			t.Errorf("the text of %d lines is read, with %d bytes", n, most)
		}
	}
}

// TestLineInRow: the text is in the row, and can be searched for.
func TestLineInRow(t *testing.T) {
	d := world{}.made()
	u := d.Units[1]
	u.Text = `if (c == '<') return "<b>";`
	d.Units[1] = u
	b := at(t, onDisk(t, pageOf(d)), size(1400, 900))
	if s := b.text(`tr[data-unit="parse.c:18"] code`); s != u.Text {
		t.Errorf("row %q", s)
	}
	b.enter("#search", "return")
	b.want("parse.c:18")
}
