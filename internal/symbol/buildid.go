package symbol

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
)

// BuildID identifies the binary's contents wherever its file is: GNU's build
// id in hexadecimal, else Go's own, else "".
func (b *Binary) BuildID() (id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ""
	}
	var err error
	defer guard("reading the build id", &err)()
	var goID string
	note := func(data []byte) bool {
		return eachNote(data, func(name string, kind uint32, desc []byte) bool {
			switch {
			case name == "GNU" && kind == 3: // NT_GNU_BUILD_ID
				id = hex.EncodeToString(desc)
			case name == "Go" && kind == 4: // ELF_NOTE_GOBUILDID_TAG of cmd/link
				goID = string(desc)
			}
			return id == ""
		})
	}
	for _, s := range b.elf.Sections {
		if s.Type == elf.SHT_NOTE && !note(b.raw(s)) {
			return id
		}
	}
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_NOTE && p.Off <= uint64(len(b.image)) &&
			!note(b.image[p.Off:min(p.Off+p.Filesz, uint64(len(b.image)))]) {
			return id
		}
	}
	return goID
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
