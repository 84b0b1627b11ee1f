package symbol

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"io"
)

// maxInflated bounds one compressed section, unpacked. The debug information
// of the largest programs seen (browsers) is a few gigabytes; those are not
// compressed, or nobody could debug them.
const maxInflated = 1 << 30

// sectionOf finds a DWARF section by its name without ".debug_"; GNU's old
// form of compression names it ".zdebug_".
func (b *Binary) sectionOf(name string) *elf.Section {
	if s := b.elf.Section(".debug_" + name); s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	if s := b.elf.Section(".zdebug_" + name); s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	return nil
}

// debugSection is the contents of a DWARF section: a view of the mapped file,
// unless it is compressed.
func (b *Binary) debugSection(name string) []byte {
	s := b.sectionOf(name)
	if s == nil {
		return nil
	}
	if s.Name[1] == 'z' {
		return inflateOld(b.raw(s))
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return b.raw(s)
	}
	if s.Size > maxInflated {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(s.Open(), maxInflated))
	if err != nil {
		return nil
	}
	return data
}

// raw is a section's bytes as they are in the file.
func (b *Binary) raw(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(b.image)) {
		return nil
	}
	return b.image[s.Offset:min(s.Offset+s.FileSize, uint64(len(b.image)))]
}

// inflateOld unpacks a ".zdebug_" section: "ZLIB", the size, a zlib stream.
func inflateOld(data []byte) []byte {
	if len(data) < 12 || string(data[:4]) != "ZLIB" || binary.BigEndian.Uint64(data[4:]) > maxInflated {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(data[12:]))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(z, maxInflated))
	if err != nil {
		return nil
	}
	return out
}
