package symbol

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"whatif/internal/flow"
	"whatif/internal/symbol/dwarf"
)

// LineEntry is an instruction that is run once for each execution of a source line's statement.
type LineEntry struct {
	File       string // full path
	FileOffset uint64
	// Size is how much code, from there on, is run whenever that instruction is, and only then. Of a
	// function's first line it is all of the function.
	Size  uint64
	Func  string // that the code is in, "" if not known
	Entry bool   // it is the first instruction of that function
}

// LineEntries finds where the statement of a source line begins, at every place that the line was
// compiled to: in several functions, instances of a template, inlined copies. In each of them the
// compiler may have cut the statement into pieces and put them anywhere; the entries are
// chosen such that each execution passes one, once.
//
// Of a line that holds a loop's head, that is when the loop begins, not at each turn.
//
// It is a *NotFound if no code belongs to the line, and an *Ambiguous if several
// files are meant. It reads the line tables of all units that contain the file.
func (b *Binary) LineEntries(file string, line int) (entries []LineEntry, err error) {
	entries, err = b.lineEntries(file, line)
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	if err := b.CheckLine(file, line); err != nil {
		return nil, err
	}
	return nil, &NotFound{What: "line with code", Name: fmt.Sprintf("%s:%d", file, line), Where: b.path, Note: "the linker left it out"}
}

func (b *Binary) lineEntries(file string, line int) (entries []LineEntry, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for %s:%d in %s", file, line, b.path)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	var statements []dwarf.Statement
	switch t := b.goTable(); {
	case b.hasDebugInfo():
		statements = b.debugData().Statements(func(p string) bool { return MatchFile(file, p) }, line)
	case t != nil:
		statements = goStatements(t, file, line)
		b.file.Release()
	}
	var files []string
	for _, s := range statements {
		files = append(files, s.File)
	}
	if err := OneFile(files, file, line, b.name); err != nil {
		return nil, err
	}
	byFunc := map[uint64][]dwarf.Statement{}
	for _, s := range statements {
		byFunc[s.Entry] = append(byFunc[s.Entry], s)
	}
	left := effort(maxEffort)
	for _, entry := range slices.Sorted(maps.Keys(byFunc)) { // or who is left without effort would be chance
		in := byFunc[entry]
		g, name := b.graph(in, &left), b.funcAt(entry)
		for _, s := range in {
			entries = append(entries, b.entriesOf(s, name, g, &left)...)
		}
	}
	// Identical functions may have been folded into one; nested copies may begin at one place.
	slices.SortFunc(entries, func(x, y LineEntry) int { return cmp.Compare(x.FileOffset, y.FileOffset) })
	return slices.CompactFunc(entries, func(x, y LineEntry) bool { return x.FileOffset == y.FileOffset }), nil
}

// Ambiguous says that a file's name, as the user wrote it, means several that have code
// on the line.
type Ambiguous struct {
	Name  string // as the user wrote it, with the line
	Where string
	Files []string // that may be meant, as much of their paths as tells them apart
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%s means several files in %s: %s", e.Name, e.Where, strings.Join(e.Files, ", "))
}

// OneFile is an *Ambiguous if the files, which a name and a line stand for, are not all the same.
func OneFile(files []string, file string, line int, where string) error {
	files = slices.Sorted(slices.Values(files))
	if files = slices.Compact(files); len(files) < 2 {
		return nil
	}
	e := &Ambiguous{Name: fmt.Sprintf("%s:%d", file, line), Where: where}
	for _, f := range files {
		e.Files = append(e.Files, fmt.Sprintf("%s:%d", shortest(f, files), line))
	}
	if len(e.Files) > maxAmbiguous {
		e.Files = append(e.Files[:maxAmbiguous], "…")
	}
	return e
}

// maxAmbiguous is how many files an error names.
const maxAmbiguous = 8

// shortest is the shortest end of a path, in whole components, that no other path has.
func shortest(file string, all []string) string {
	for at := len(file); at > 0; {
		at = strings.LastIndexByte(file[:at], '/')
		if at < 0 {
			break
		}
		end := file[at+1:]
		others := slices.ContainsFunc(all, func(f string) bool { return f != file && MatchFile(end, f) })
		if !others && end != "" {
			return end
		}
	}
	return file
}

// effort is what may still be spent on one line, in instructions that are looked at.
type effort int64

const (
	maxEffort = 1 << 26 // a second or so: as much as 16 MB of functions with code of the line take
	decoding  = 16      // costs as much as looking at so many
)

// spend reports whether so much is left.
func (e *effort) spend(n uint64) bool {
	if *e < 0 || n > uint64(*e) {
		*e = -1
		return false
	}
	*e -= effort(n)
	return true
}

// maxFlow bounds the code of a function of which the control flow is looked at.
const maxFlow = 8 << 20

// graph is the control flow of the function that some statements are in; nil where that is
// not known, or would take too long.
func (b *Binary) graph(in []dwarf.Statement, left *effort) *flow.Graph {
	if b.elf.Machine != elf.EM_X86_64 {
		return nil
	}
	var code []flow.Code
	var starts []uint64
	size := uint64(0)
	for _, r := range in[0].Ranges {
		if size += r.High - r.Low; size > maxFlow {
			return nil
		}
		code = append(code, flow.Code{Addr: r.Low, Bytes: b.bytesAt(r.Low, r.High-r.Low)})
	}
	if !left.spend(decoding * size / 4) { // an instruction is some four bytes long
		return nil
	}
	for _, s := range in {
		starts = append(starts, addresses(s.Starts)...)
	}
	return flow.New(in[0].Entry, code, starts)
}

// entriesOf chooses among the places where code of a statement begins.
func (b *Binary) entriesOf(s dwarf.Statement, name string, g *flow.Graph, left *effort) []LineEntry {
	var entries []LineEntry
	for _, c := range choose(g, statementStarts(s), s.Exact, left) {
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
				e.Size = r.High - r.Low // where in it is chosen as for func:
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// statementStarts leaves out pieces of which the compiler says that no statement begins there, unless
// it says so of all.
func statementStarts(s dwarf.Statement) []dwarf.Start {
	begins := func(x dwarf.Start) bool { return x.Stmt && !(s.Exact && x.Inlined) }
	if !slices.ContainsFunc(s.Starts, begins) {
		return s.Starts
	}
	return slices.DeleteFunc(slices.Clone(s.Starts), func(x dwarf.Start) bool { return !begins(x) })
}

func addresses(starts []dwarf.Start) []uint64 {
	var addrs []uint64
	for _, s := range starts {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// choose gives the starts such that each execution of the statement passes one of them
// once. They are
//
//   - those that can be come to without passing another: the others are pieces of the
//     statement behind its beginning;
//   - copies of these that a compiler made, unrolling a loop or taking its first turn out of it. They begin
//     in the same column; and either the compiler marks beginnings only, or they consist of the
//     same instructions, or are in a loop that the first are not in. (Compilers that
//     record no columns make no such copies.)
//
// Without a control flow graph, or when there is no effort left, it is the lowest, as in debuggers.
func choose(g *flow.Graph, starts []dwarf.Start, exact bool, left *effort) []dwarf.Start {
	if len(starts) < 2 {
		return starts
	}
	var first []uint64
	if g != nil && left.spend(uint64(g.Len()+len(starts))) {
		first = g.First(addresses(starts))
	}
	if len(first) == 0 {
		return starts[:1]
	}
	var chosen, rest []dwarf.Start
	for _, s := range starts {
		if _, ok := slices.BinarySearch(first, s.Addr); ok {
			chosen = append(chosen, s)
		} else {
			rest = append(rest, s)
		}
	}
	firsts := slices.Clone(chosen)
	for _, s := range rest {
		if s.Run && left.isCopy(g, s, firsts, first, exact) {
			chosen = append(chosen, s)
		}
	}
	if *left < 0 {
		return starts[:1]
	}
	return chosen
}

// isCopy reports whether a start is a copy of one of the firsts.
func (e *effort) isCopy(g *flow.Graph, s dwarf.Start, firsts []dwarf.Start, addresses []uint64, exact bool) bool {
	column := false
	for _, f := range firsts {
		if s.Column != f.Column || s.Column == 0 {
			continue
		}
		column = true
		if exact && s.Stmt {
			return true
		}
		if !exact && e.spend(1+min(s.End-s.Addr, f.End-f.Addr)) && g.Alike(s.Addr, s.End, f.Addr, f.End) {
			return true
		}
	}
	return column && e.spend(uint64(g.Len()+len(addresses))) && g.LoopsBack(s.Addr, addresses)
}

// funcAt names the function at an address.
func (b *Binary) funcAt(addr uint64) string {
	if frames := b.framesAt(addr); len(frames) > 0 {
		return frames[len(frames)-1].Short
	}
	return ""
}

// IsGoCode reports whether the code at an offset in the file is Go's, and not C that was linked
// with it.
func (b *Binary) IsGoCode(fileOffset uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || !b.isGo {
		return false
	}
	var err error
	defer guard("looking for Go code", &err)()
	addr, ok := b.address(fileOffset)
	if !ok || b.goTable() == nil {
		return true
	}
	_, is := b.aroundGo(addr)
	return is
}

// ReturnLines names the lines, FILE:LINE, on which a function returns.
func (b *Binary) ReturnLines(f Func) (lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	defer guard("looking for returns", &err)()
	for _, at := range b.returns(f) {
		frames := b.framesAt(at)
		if len(frames) == 0 || frames[0].Line == 0 {
			continue
		}
		l := fmt.Sprintf("%s:%d", path.Base(frames[0].File), frames[0].Line)
		if !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}
