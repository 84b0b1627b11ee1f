// Package source finds the progress points that are in a program's source. It reads the notes and
// tables that whatif.h, the Go package point and the Rust crate whatif leave in the program's file,
// and says where in the program's memory the visits are counted. Call Read once for a file.
//
// The package is pure, and does not trust the files: it checks a note against the file's segments,
// and leaves a wrong one out with a warning.
package source

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"whatif/internal/code/symbol/object"
)

// Event says what happens at a point.
type Event int

const (
	Progress Event = 1 + iota // a unit of useful work is done
	Begin                     // a latency begins
	End                       // a latency ends
)

// Counter is one place in the source that counts visits.
type Counter struct {
	Name    string
	Event   Event
	Address uint64 // of its numbers, as in the file
	Shards  int    // how many numbers there are, Stride apart
	Site    uint64 // address that each visit passes, where a probe belongs: of a no-op, or behind it
	Keyed   bool   // at the site, rax or x0 has an id
	// SiteOffset is that place in the file; 0 if the bytes of the site are not the no-op, so that no
	// probe can be attached. SiteStepped: the kernel runs what is there in a single step.
	SiteOffset  uint64
	SiteStepped bool
}

// Stride is the distance of a counter's numbers, in bytes.
const Stride = 64

const (
	maxShards = 16
	maxName   = 111 // bytes
	// No hand-written program has more.
	maxCounters = 8192
	maxTables   = 8
)

// Code is a file's first executable segment. The mapping of that segment tells at which address
// the file is loaded.
type Code struct {
	From, To uint64 // offsets in the file, To exclusive
	Ahead    uint64 // what addresses are ahead of offsets
}

// Points are the points of one file.
type Points struct {
	Counters []Counter
	// Tables are the addresses of tables of points that get names while the program runs.
	Tables   []uint64
	Code     Code
	Warnings []string
}

// None reports whether the file has no points.
func (p *Points) None() bool { return len(p.Counters)+len(p.Tables) == 0 }

// Read finds the points of a file. Of a damaged file, or one that shrinks meanwhile, there are none.
func Read(f *object.File) *Points {
	points, err := readGuarded(f)
	if err != nil {
		return &Points{Warnings: []string{err.Error()}}
	}
	return points
}

// readGuarded gives an error for a damaged file, or one that shrinks meanwhile.
func readGuarded(f *object.File) (_ *Points, err error) {
	defer object.Guard("looking for progress points in the source of "+f.Path, &err)()
	r := reader{file: f, points: new(Points)}
	if f.ELF.Class != elf.ELFCLASS64 || f.ELF.Data != elf.ELFDATA2LSB {
		return r.points, nil
	}
	for _, p := range f.ELF.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			r.points.Code = Code{p.Off &^ (pageSize - 1), p.Off + p.Filesz, p.Vaddr - p.Off}
			break
		}
	}
	if !f.EachSegmentNote(r.note) {
		return &Points{Warnings: []string{
			fmt.Sprintf("%s has more than %d progress points in its notes: they are not used", f.Path, maxCounters),
		}}, nil
	}
	r.goTable()
	if r.more > 0 {
		r.points.Warnings = append(r.points.Warnings,
			fmt.Sprintf("%d more progress points of %s are left out", r.more, f.Path))
	}
	return r.points, nil
}

const pageSize = 4096

type reader struct {
	file   *object.File
	points *Points
	more   int // notes that are left out without a warning of their own
}

// maxWarnings bounds the warnings about one file.
const maxWarnings = 8

// warn adds a warning about a note that is left out, once for each reason.
func (r *reader) warn(why string) {
	text := fmt.Sprintf("a progress point of %s is left out: %s", r.file.Path, why)
	switch {
	case slices.Contains(r.points.Warnings, text):
	case len(r.points.Warnings) < maxWarnings:
		r.points.Warnings = append(r.points.Warnings, text)
	default:
		r.more++
	}
}

const owner = "whatif"

// Types of notes.
const (
	noteCounter = 1
	noteTable   = 2
)

// note reads a note of a segment. It returns false if there are too many points.
func (r *reader) note(segment *elf.Prog, n object.Note) bool {
	if n.Name != owner {
		return true
	}
	address := segment.Vaddr + n.Offset
	switch n.Kind {
	case noteCounter:
		r.counter(address, n.Desc)
	case noteTable:
		if len(n.Desc) == 8 {
			r.table(address + binary.LittleEndian.Uint64(n.Desc))
		}
	}
	return len(r.points.Counters) <= maxCounters && len(r.points.Tables) <= maxTables
}

// counter reads the description of a counter's note. address is the description's own; the
// addresses in it are relative to their own place.
func (r *reader) counter(address uint64, desc []byte) {
	const fixed = 32
	le := binary.LittleEndian
	if len(desc) < fixed {
		r.warn("its note is cut short")
		return
	}
	c := Counter{
		Event: Event(le.Uint32(desc)), Shards: int(le.Uint32(desc[4:])), Keyed: le.Uint32(desc[12:]) != 0,
		Address: address + 16 + le.Uint64(desc[16:]),
		Site:    address + 24 + le.Uint64(desc[24:]),
	}
	name, _, ended := bytes.Cut(desc[fixed:], []byte{0})
	c.Name = string(name)
	switch {
	case !ended || !goodName(c.Name):
		r.warn(fmt.Sprintf("its name, %.40q, is empty, too long or not printable", name))
	case c.Event < Progress || c.Event > End || c.Shards < 1 || c.Shards > maxShards || le.Uint32(desc[8:]) != Stride:
		r.warn("it was made for another version of whatif")
	case !r.within(c.Site, 1, elf.PF_X):
		// The linker removed the function.
	case !r.within(c.Address, uint64(c.Shards)*Stride, elf.PF_W):
		r.warn(fmt.Sprintf("its numbers, at %#x, would not be in the program's data", c.Address))
	default:
		r.findSite(&c)
		r.points.Counters = append(r.points.Counters, c)
	}
}

// tableSize is the size of struct source_table (bpf/base/shared.h).
const tableSize = 32

func (r *reader) table(address uint64) {
	if !r.within(address, tableSize, elf.PF_W) {
		r.warn(fmt.Sprintf("the table at %#x would not be in the program's data", address))
		return
	}
	r.points.Tables = append(r.points.Tables, address)
}

// What is at a site. Programs with an earlier whatif.h have longNop there, behind which the probe
// belongs: see trap.Behind.
const (
	nop      = "\x90"
	longNop  = "\x0f\x1f\x44\x00\x00"
	nopOfARM = "\x1f\x20\x03\xd5"
)

// findSite sets where the probe of a counter's site belongs, unless the instruction there is no no-op: a probe would
// change a wrong instruction.
func (r *reader) findSite(c *Counter) {
	code, at := r.code(c.Site)
	rest, isNop := bytes.CutPrefix(code, []byte(nop))
	behind, isLong := bytes.CutPrefix(code, []byte(longNop))
	switch machine := r.file.ELF.Machine; {
	case machine == elf.EM_AARCH64 && bytes.HasPrefix(code, []byte(nopOfARM)):
		c.SiteOffset, c.SiteStepped = at, true
	case machine == elf.EM_X86_64 && isNop && isLea(rest):
		c.SiteOffset = at
	case machine == elf.EM_X86_64 && isLong && isLea(behind):
		c.Site += uint64(len(longNop))
		c.SiteOffset, c.SiteStepped = at+uint64(len(longNop)), true
	}
}

// code is what the file has from an address on, and its offset; nothing if no executable segment has the address.
func (r *reader) code(address uint64) (code []byte, offset uint64) {
	for _, p := range r.file.ELF.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || address < p.Vaddr || address-p.Vaddr >= p.Filesz {
			continue
		}
		if at := p.Off + (address - p.Vaddr); at < uint64(len(r.file.Image)) {
			return r.file.Image[at:], at
		}
	}
	return nil, 0
}

// isLea says whether code begins with a lea of 64 bits, as is behind each site: a no-op of one byte alone may be the
// middle of an instruction.
func isLea(code []byte) bool { return len(code) > 1 && code[0]&0xfb == 0x48 && code[1] == 0x8d }

// within reports whether one segment with the flag has the whole range of addresses.
func (r *reader) within(address, size uint64, flag elf.ProgFlag) bool {
	for _, p := range r.file.ELF.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&flag == 0 || address < p.Vaddr {
			continue
		}
		if at := address - p.Vaddr; at <= p.Memsz && size <= p.Memsz-at {
			return true
		}
	}
	return false
}

// maxSearched bounds the bytes of a file that are searched. A file may be a hole of terabytes.
const maxSearched = 256 << 20

// goMarker stands before the table of a Go program. Only a search through the data finds it: a
// stripped Go program has no symbols, and Go's linker writes no notes but its own.
const goMarker = "whatif/point: table, 1\n\x00"

// goTable finds the table of the Go package point.
func (r *reader) goTable() {
	s := r.file.ELF.Section(".noptrdata")
	if s == nil {
		return
	}
	data := r.file.Raw(s)
	if at := bytes.Index(data[:min(len(data), maxSearched)], []byte(goMarker)); at >= 0 {
		r.table(s.Addr + uint64(at+len(goMarker)))
	}
}

func goodName(name string) bool {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return false
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return false
		}
	}
	return true
}

// Clean makes a name from a program's table printable. The result is empty if the name is.
func Clean(name []byte) string {
	if utf8.Valid(name) && goodName(string(name)) {
		return string(name)
	}
	clean := bytes.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return utf8.RuneError
	}, name)
	if len(clean) > maxName {
		clean = bytes.ToValidUTF8(clean[len(clean)-maxName:], nil)
	}
	return string(clean)
}
