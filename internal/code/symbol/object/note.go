package object

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
)

// BuildID returns GNU's build id in hexadecimal, "" if there is none. A binary and the separate files of
// its debug information have the same.
func (f *File) BuildID() (id string) {
	f.EachNote(buildIDInto(&id))
	return id
}

// NotesBuildID returns GNU's build id in a section of notes, "" if there is none.
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

// maxBuildID bounds a build id, in bytes. It is a hash of 8 to 32 bytes.
const maxBuildID = 64

// Note is one of a file's notes.
type Note struct {
	Name   string
	Kind   uint32
	Desc   []byte
	Offset uint64 // of Desc in the section or segment
}

// maxNotes bounds the notes of a file that are read. Notes that are met twice count twice: headers may
// lead to the same bytes over and over. The largest programs have some thousands.
const maxNotes = 1 << 18

// maxNoteName bounds the name of a note's owner. Real names have a few letters.
const maxNoteName = 64

// EachNote calls visit for the file's notes until visit returns false. A note in a section and in a
// segment comes twice.
func (f *File) EachNote(visit func(Note) bool) {
	left := maxNotes
	for _, s := range f.ELF.Sections {
		if s.Type == elf.SHT_NOTE && !eachNote(f.Raw(s), &left, visit) {
			return
		}
	}
	f.eachSegmentNote(&left, func(_ *elf.Prog, n Note) bool { return visit(n) })
}

// EachSegmentNote calls visit for the notes in the file's segments until visit returns false. The result
// is false if visit returned false.
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

// Segment returns a segment's bytes in the file.
func (f *File) Segment(p *elf.Prog) []byte {
	size := uint64(len(f.Image))
	from := min(p.Off, size)
	return f.Image[from : from+min(p.Filesz, size-from)]
}

// EachNoteIn calls visit for the notes of a section or segment until visit returns false. The result is
// false if visit returned false.
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
