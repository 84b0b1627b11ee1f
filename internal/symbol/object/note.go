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
	eachNote(notes, buildIDInto(&id))
	return id
}

func buildIDInto(id *string) func(name string, kind uint32, desc []byte) bool {
	return func(name string, kind uint32, desc []byte) bool {
		if name == "GNU" && kind == 3 { // NT_GNU_BUILD_ID
			*id = hex.EncodeToString(desc)
		}
		return *id == ""
	}
}

// EachNote shows the file's notes until visit returns false.
func (f *File) EachNote(visit func(name string, kind uint32, desc []byte) bool) {
	for _, s := range f.ELF.Sections {
		if s.Type == elf.SHT_NOTE && !eachNote(f.Raw(s), visit) {
			return
		}
	}
	for _, p := range f.ELF.Progs {
		if p.Type == elf.PT_NOTE && p.Off <= uint64(len(f.Image)) &&
			!eachNote(f.Image[p.Off:min(p.Off+p.Filesz, uint64(len(f.Image)))], visit) {
			return
		}
	}
}

// eachNote shows the notes of a section until visit returns false, and reports
// whether it never did.
func eachNote(data []byte, visit func(name string, kind uint32, desc []byte) bool) bool {
	for len(data) >= 12 {
		nameSize := uint64(binary.LittleEndian.Uint32(data))
		descSize := uint64(binary.LittleEndian.Uint32(data[4:]))
		kind := binary.LittleEndian.Uint32(data[8:])
		data = data[12:]
		descAt := (nameSize + 3) &^ 3
		end := descAt + (descSize+3)&^3
		if descAt+descSize > uint64(len(data)) || nameSize == 0 {
			return true
		}
		if !visit(string(data[:nameSize-1]), kind, data[descAt:descAt+descSize]) {
			return false
		}
		data = data[min(end, uint64(len(data))):]
	}
	return true
}
