package chart

import (
	"bufio"
	"fmt"
	"html"
	"io"

	"whatif/internal/analyze"
)

// Panel is one curve of a sheet, and the text above it.
type Panel struct {
	Name, Detail, Verdict string
	Share                 float64 // see Plot
	Effect                *analyze.Effect
}

// Section is panels under a heading.
type Section struct {
	Heading string
	Panels  []Panel
	Notes   []string // about what the panels show
}

// Sheet is an SVG file of curves.
type Sheet struct {
	Title    string
	Notes    []string // what to know before looking at the curves
	Sections []Section
	Width    float64 // width of a panel
}

// Write writes the whole SVG file.
func (s *Sheet) Write(w io.Writer) error {
	high := s.Width * 0.62
	columns := 1
	for _, sec := range s.Sections {
		columns = max(columns, min(3, len(sec.Panels)))
	}
	wide := gap + float64(columns)*(s.Width+gap)
	var d drawing
	y := d.head(s.Title, s.Notes, wide)
	for _, sec := range s.Sections {
		y += gap + 8
		d.text(gap, y, "name", "start", cut(sec.Heading, letters(wide-2*gap, 12.5)))
		y += 10
		for i, p := range sec.Panels {
			x := gap + float64(i%columns)*(s.Width+gap)
			if i > 0 && i%columns == 0 {
				y += high + 3*line + gap
			}
			n := letters(s.Width, 12.5)
			d.text(x, y+line, "name", "start", cutLeft(p.Name, n))
			d.text(x, y+2*line, "", "start", cut(p.Detail, letters(s.Width, 11)))
			d.text(x, y+3*line, string(p.Effect.Verdict), "start", cut(p.Verdict, letters(s.Width, 11)))
			d.add(`<svg x="%s" y="%s" width="%s" height="%s">%s</svg>`,
				num(x), num(y+3*line+6), num(s.Width), num(high),
				Curve(p.Effect, Plot{Width: s.Width, Height: high, Title: p.Name, Share: p.Share}))
		}
		if len(sec.Panels) > 0 {
			y += high + 3*line + gap
		}
		for _, note := range sec.Notes {
			for _, l := range wrap(note, letters(wide-2*gap, 11)) {
				d.text(gap, y, "", "start", l)
				y += line
			}
		}
	}
	return d.writeFile(w, s.Title, wide, y+gap/2)
}

// Distances in a file.
const gap, line = 24.0, 17.0

// letters is how many letters of a size there is room for.
func letters(room, size float64) int { return int(room / (0.56 * size)) }

// head writes what stands above all drawings of a file, and returns where it ends.
func (d *drawing) head(title string, notes []string, wide float64) (y float64) {
	y = gap + 14
	d.text(gap, y, "title", "start", cut(title, letters(wide-2*gap, 17)))
	for _, note := range notes {
		for _, l := range wrap(note, letters(wide-2*gap, 11)) {
			y += line
			d.text(gap, y, "", "start", l)
		}
	}
	return y
}

// writeFile writes what was drawn as a file.
func (d *drawing) writeFile(w io.Writer, title string, wide, high float64) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"%s\" height=\"%s\" "+
		"viewBox=\"0 0 %[1]s %[2]s\">\n<title>%s</title>\n<style>\n%s</style>\n"+
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n%s</svg>\n",
		num(wide), num(high), html.EscapeString(title), Style, d.String())
	return out.Flush()
}

// cut keeps the beginning of a text, cutLeft the end, with n letters of mean width: letters differ
// in width.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(0, n-1)]) + "…"
	}
	return s
}

func cutLeft(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-max(0, n-1):])
	}
	return s
}
