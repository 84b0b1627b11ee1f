package symbol

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// NotFound is the error for a name from the user that does not exist. It has similar names that do.
type NotFound struct {
	What  string   // "function", "file", "line with code"
	Name  string   // as the user wrote it
	Where string   // the binary or binaries
	Near  []string // similar names, best first
	Note  string   // the reason, if known
}

func (e *NotFound) Error() string {
	s := fmt.Sprintf("no %s %s in %s", e.What, e.Name, e.Where)
	if e.Note != "" {
		s += " (" + e.Note + ")"
	}
	if len(e.Near) > 0 {
		s += "; there is " + strings.Join(e.Near, ", ")
	}
	return s
}

// nearCount bounds the names that an error offers.
const nearCount = 3

// CheckLine returns nil if some code belongs to a source line, else a *NotFound with similar file
// names, or with the nearest lines that have code. It reads the line tables of all units that contain
// the file.
func (b *Binary) CheckLine(file string, line int) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for %s:%d in %s", file, line, b.path)
	if b.closed {
		return fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	if t := b.goTable(); t != nil && !b.hasDebugInfo() {
		return b.checkGoLine(t, file, line)
	}
	if !b.hasDebugInfo() {
		return &NotFound{What: "file", Name: file, Where: b.path, Note: "it has no debug information: compile with -g"}
	}
	d := b.debugData()
	matched := false
	lines, found := d.Lines(func(p string) bool {
		ok := MatchFile(file, p)
		matched = matched || ok
		return ok
	}, line)
	switch {
	case found && line > 0:
		return nil
	case !matched:
		return &NotFound{What: "file", Name: file, Where: b.path, Near: b.nearFiles(file)}
	}
	return b.lineIn(lines, file, line)
}

// nearFiles returns the names of source files that are most like a name.
func (b *Binary) nearFiles(file string) []string {
	r := newRanking(file, path.Base)
	b.debugData().Files(func(p string) bool {
		r.add(path.Base(p))
		return true
	})
	return r.best(nearCount)
}

// nearLines returns the lines nearest to a line, nearest first.
func nearLines(lines []int, line int) []int {
	near := slices.Clone(lines)
	away := func(l int) int { return max(l-line, line-l) }
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	return near[:min(nearCount, len(near))]
}
