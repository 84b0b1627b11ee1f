package pclntab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// buildMagic is the begin of Go's description of the build. debug/buildinfo reads it, too, but trusts lengths up to
// the file's length.
var buildMagic = []byte("\xff Go buildinf:")

const (
	buildAlign   = 16
	buildHeader  = 32
	maxGoVersion = 256
)

// GoVersion returns the version of Go that made a binary, such as "go1.22.1"; "" if it is not known.
func GoVersion(f *elf.File, image []byte) string {
	m := &memory{f, image}
	if s := f.Section(".go.buildinfo"); s != nil && s.Type != elf.SHT_NOBITS {
		return m.versionIn(m.at(s.Addr))
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&(elf.PF_X|elf.PF_W) == elf.PF_W {
			return m.versionIn(m.segment(p)) // its place in files without sections
		}
	}
	return ""
}

// versionIn finds the description of the build in data, at a multiple of its alignment.
func (m *memory) versionIn(data []byte) string {
	data = data[:min(len(data), maxSearched)]
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

// version reads the description. Since Go 1.18 it contains the version, before it had a pointer to a string.
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
