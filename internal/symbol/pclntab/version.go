package pclntab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// What Go's linker puts before what debug/buildinfo reads: that package believes lengths up to the file's.
var buildMagic = []byte("\xff Go buildinf:")

const (
	buildAlign   = 16
	buildHeader  = 32
	maxGoVersion = 256
)

// GoVersion is the version of Go that made a binary, such as "go1.22.1"; "" if the binary does not say.
func GoVersion(f *elf.File, image []byte) string {
	m := &memory{f, image}
	if s := f.Section(".go.buildinfo"); s != nil && s.Type != elf.SHT_NOBITS {
		return m.versionIn(m.at(s.Addr))
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&(elf.PF_X|elf.PF_W) == elf.PF_W {
			return m.versionIn(m.segment(p)) // where the linker puts it that makes no sections
		}
	}
	return ""
}

// versionIn finds the description of the build in data, which begins at a multiple of its alignment.
func (m *memory) versionIn(data []byte) string {
	for at := 0; ; at += buildAlign {
		i := bytes.Index(data[at:], buildMagic)
		if i < 0 {
			return ""
		}
		if at += i; at%buildAlign != 0 {
			at -= at % buildAlign
			continue
		}
		if len(data)-at < buildHeader {
			return ""
		}
		return m.version(data[at:])
	}
}

// version reads the description. Since Go 1.18 the version stands in it; before, a pointer to a string did.
func (m *memory) version(build []byte) string {
	const inline = 2
	size, flags := uint64(build[14]), build[15]
	if flags&inline != 0 {
		n, used := binary.Uvarint(build[buildHeader:])
		if rest := build[buildHeader:]; used > 0 && n <= maxGoVersion && n <= uint64(len(rest)-used) {
			return string(rest[used : used+int(n)])
		}
		return ""
	}
	if size != 8 {
		return ""
	}
	header := m.at(binary.LittleEndian.Uint64(build[16:]))
	if len(header) < 16 {
		return ""
	}
	text, n := m.at(binary.LittleEndian.Uint64(header)), binary.LittleEndian.Uint64(header[8:])
	if n > maxGoVersion || n > uint64(len(text)) {
		return ""
	}
	return string(text[:n])
}
