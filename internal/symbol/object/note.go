package object

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
)

// BuildID is GNU's build id, in hexadecimal: the same for a binary and the
// separate files of its debug information. Empty if there is none.
func (f *File) BuildID() (id string) {
	f.EachNote(buildIDInto(&id))
	return id
}

// NotesBuildID is GNU's build id in a section of notes, empty if there is none.
func NotesBuildID(notes []byte) (id string) {
	EachNoteIn(notes, buildIDInto(&id))
	return id
}

func buildIDInto(id *string) func(Note) bool {
	return func(n Note) bool {
		if n.Name == "GNU" && n.Kind == 3 && len(n.Desc) <= maxBuildID { // NT_GNU_BUILD_ID
			*id = hex.EncodeToString(n.Desc)
		}
		return *id == ""
	}
}

// maxBuildID bounds a build id, in bytes: it is a hash, of 8 to 32.
const maxBuildID = 64

// Note is one of a file's notes.
type Note struct {
	Name   string
	Kind   uint32
	Desc   []byte
	Offset uint64 // of Desc in the section or segment
}

// maxNotes is how many notes of a file are looked at, those that are met twice included: headers may
// lead to the same bytes over and over. The largest programs have some thousands.
const maxNotes = 1 << 18

// maxNoteName bounds a note's owner; those that there are have a few letters.
const maxNoteName = 64

// EachNote shows the file's notes until visit returns false.
func (f *File) EachNote(visit func(Note) bool) {
	left := maxNotes
	for _, s := range f.ELF.Sections {
		if s.Type == elf.SHT_NOTE && !eachNote(f.Raw(s), &left, visit) {
			return
		}
	}
	f.eachSegmentNote(&left, func(_ *elf.Prog, n Note) bool { return visit(n) })
}

// EachSegmentNote shows the notes in the file's segments until visit returns false, and reports whether it
// never did.
func (f *File) EachSegmentNote(visit func(*elf.Prog, Note) bool) bool {
	left := maxNotes
	return f.eachSegmentNote(&left, visit)
}

func (f *File) eachSegmentNote(left *int, visit func(*elf.Prog, Note) bool) bool {
	for _, p := range f.ELF.Progs {
		if p.Type == elf.PT_NOTE && !eachNote(f.Segment(p), left, func(n Note) bool { return visit(p, n) }) {
			return false
		}
	}
	return true
}

// Segment is what the file has of a segment.
func (f *File) Segment(p *elf.Prog) []byte {
	size := uint64(len(f.Image))
	from := min(p.Off, size)
	return f.Image[from : from+min(p.Filesz, size-from)]
}

// EachNoteIn shows the notes of a section or segment until visit returns false, and reports
// whether it never did.
func EachNoteIn(data []byte, visit func(Note) bool) bool {
	left := maxNotes
	return eachNote(data, &left, visit)
}

func eachNote(data []byte, left *int, visit func(Note) bool) bool {
	const header = 12
	for at := uint64(0); uint64(len(data))-at >= header && *left > 0; *left-- {
		nameSize := uint64(binary.LittleEndian.Uint32(data[at:]))
		descSize := uint64(binary.LittleEndian.Uint32(data[at+4:]))
		n := Note{Kind: binary.LittleEndian.Uint32(data[at+8:])}
		name := at + header
		n.Offset = name + (nameSize+3)&^3
		if n.Offset+descSize > uint64(len(data)) {
			return true
		}
		if nameSize > 0 && nameSize <= maxNoteName {
			n.Name = string(data[name : name+nameSize-1])
		}
		n.Desc = data[n.Offset : n.Offset+descSize]
		if !visit(n) {
			return false
		}
		at = min(n.Offset+(descSize+3)&^3, uint64(len(data)))
	}
	return true
}
