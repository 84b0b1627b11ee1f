package web

import (
	"errors"
	"io/fs"
	"strings"

	"whatif/internal/code/sourcefile"
	"whatif/internal/report"
)

// A sourceFile is a file that the profile names as the source of units.
type sourceFile struct {
	path  string
	sum   string // checksum at the time of the profile; "" if not known
	shown []stretch
}

// A stretch is lines of a file that are shown, by the number of the first and of the last.
type stretch struct{ from, to int }

// stretchOf is what is shown of a unit: what is around a line, and a function from its beginning on.
func stretchOf(kind string, line int) stretch {
	if kind == "line" {
		return stretch{line - around, line + around}
	}
	return stretch{line, line + ofFunction}
}

// source is the resource of a file: its present content around the units' lines.
type source struct {
	File string `json:"file"`
	Note string `json:"note"` // how it differs from the profiled file; "" if it does not
	// Parts are stretches of lines. From is the number of the first.
	Parts []part `json:"parts"`
}

type part struct {
	From  int      `json:"from"`
	Lines []string `json:"lines"`
}

const (
	around     = 12  // lines before and after a unit's
	ofFunction = 60  // lines from a function's first
	longLine   = 400 // characters of a line that are shown
)

// source reads file n. If it goes into a file to be given away (single), it must be the profiled
// one, by its checksum: a profile from elsewhere could name any file of the reader.
func (p *Page) source(n int, single bool) source {
	f := &p.files[n]
	s := source{File: report.Clean(f.path), Parts: []part{}}
	text, err := sourcefile.Read(f.path)
	changed := err == nil && f.sum != "" && sourcefile.Sum(text) != f.sum
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Note = "This file is not on this machine. If it lies elsewhere, --source-path OLD=NEW says where."
		return s
	case err != nil:
		s.Note = "This file could not be read: " + report.Clean(err.Error()) + "."
		return s
	case single && changed:
		s.Note = "This file has changed since it was profiled, so it was left out. whatif view shows it as it is now."
		return s
	case single && f.sum == "":
		s.Note = "The profile does not say what this file was, so it was left out. whatif view shows it as it is now."
		return s
	case changed:
		s.Note = "This file has changed since it was profiled: lines may have moved."
	case f.sum == "":
		s.Note = "The profile does not say what this file was: it may have changed since."
	}
	s.Parts = parts(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), f.shown)
	return s
}

// parts are stretches of lines, which are in the order of their first ones. No line is in two parts.
func parts(text []string, shown []stretch) []part {
	all := []part{}
	end := 0 // end of the last part
	for _, s := range shown {
		from, to := max(1, s.from, end+1), min(len(text), s.to)
		if from > to {
			continue
		}
		if len(all) == 0 || from > end+1 {
			all = append(all, part{From: from})
		}
		last := &all[len(all)-1]
		for _, l := range text[from-1 : to] {
			last.Lines = append(last.Lines, tidy(l))
		}
		end = to
	}
	return all
}

// tidy keeps tabs, and escapes characters that reorder a line or cannot be seen.
func tidy(line string) string {
	line = strings.TrimSuffix(line, "\r")
	if r := []rune(line); len(r) > longLine {
		line = string(r[:longLine]) + "…"
	}
	words := strings.Split(line, "\t")
	for i := range words {
		words[i] = report.Clean(words[i])
	}
	return strings.Join(words, "\t")
}
