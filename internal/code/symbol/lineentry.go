package symbol

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"slices"

	"whatif/internal/code/flow"
	"whatif/internal/code/lineentry"
	"whatif/internal/code/symbol/dwarf"
)

// LineEntry is an instruction that runs once for each execution of a source line's statement.
type LineEntry struct {
	File       string // full path
	FileOffset uint64
	// Size is the size of the code, from FileOffset on, that runs exactly as often as the
	// instruction. Of a function's first line it is the size of the function.
	Size  uint64
	Func  string // the function around the code, "" if not known
	Entry bool   // the instruction is the function's first
}

// LineEntries returns the entries of a source line, at every place to which the line was compiled:
// several functions, instances of a template, inlined copies. Each execution of the line's statement
// passes one entry, once: see package lineentry. Of a line with a loop's head, the entry is where the
// loop begins, so further turns do not count.
//
// If no code belongs to the line, the error is a *NotFound; if the file's name means several files,
// an *Ambiguous. LineEntries reads the line tables of all units that contain the file.
func (b *Binary) LineEntries(file string, line int) (entries []LineEntry, err error) {
	entries, err = b.lineEntries(file, line)
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	if err := b.CheckLine(file, line); err != nil {
		return nil, err
	}
	return nil, &NotFound{
		What: "line with code", Name: fmt.Sprintf("%s:%d", file, line), Where: b.path, Note: "the linker left it out",
	}
}

func (b *Binary) lineEntries(file string, line int) (entries []LineEntry, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for %s:%d in %s", file, line, b.path)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	statements := b.statements(file, line)
	var files []string
	for _, s := range statements {
		files = append(files, s.File)
	}
	if err := CheckOneFile(files, file, line, b.name); err != nil {
		return nil, err
	}
	byFunc := map[uint64][]dwarf.Statement{}
	for _, s := range statements {
		byFunc[s.Entry] = append(byFunc[s.Entry], s)
	}
	left := lineentry.MaxEffort
	// In a fixed order, so that the effort always runs out at the same function.
	for _, entry := range slices.Sorted(maps.Keys(byFunc)) {
		in := byFunc[entry]
		var g *flow.Graph
		if b.elf.Machine == elf.EM_X86_64 {
			g = lineentry.Graph(in, b.bytesAt, &left)
		}
		name := b.funcAt(entry)
		for _, s := range in {
			entries = append(entries, b.entriesOf(s, name, g, &left)...)
		}
	}
	// The linker may have folded identical functions into one; nested copies may begin at one place.
	slices.SortFunc(entries, func(x, y LineEntry) int { return cmp.Compare(x.FileOffset, y.FileOffset) })
	return slices.CompactFunc(entries, func(x, y LineEntry) bool { return x.FileOffset == y.FileOffset }), nil
}

// statements returns the code of a line, from the debug information or else from Go's table.
func (b *Binary) statements(file string, line int) []dwarf.Statement {
	t := b.goTable()
	switch {
	case b.hasDebugInfo():
		return b.debugData().Statements(func(p string) bool { return MatchFile(file, p) }, line)
	case t != nil:
		defer b.file.Release()
		return goStatements(t, file, line)
	}
	return nil
}

// entriesOf returns the entries of a statement.
func (b *Binary) entriesOf(s dwarf.Statement, name string, g *flow.Graph, left *lineentry.Effort) []LineEntry {
	var entries []LineEntry
	for _, c := range lineentry.Choose(g, s, left) {
		offset, ok := b.offset(c.Addr)
		if !ok {
			continue
		}
		e := LineEntry{File: s.File, FileOffset: offset, Func: name, Entry: c.Addr == s.Entry}
		if g != nil {
			e.Size = g.StraightSize(c.Addr, max(c.End, c.Addr+1))
		}
		for _, r := range s.Ranges {
			if e.Entry && r.Low == c.Addr {
				e.Size = r.High - r.Low // the probe goes where it would go for func:
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// funcAt returns the name of the function at an address.
func (b *Binary) funcAt(addr uint64) string {
	if frames := b.framesAt(addr); len(frames) > 0 {
		return frames[len(frames)-1].Short
	}
	return ""
}
