package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// find gives a section by its name, such as ".debug_info"; GNU's old form of
// compression calls it ".zdebug_info".
func (f *File) find(name string) *elf.Section {
	if s := f.ELF.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	if !strings.HasPrefix(name, ".debug_") {
		return nil
	}
	if s := f.ELF.Section(".z" + name[1:]); s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	return nil
}

// Has reports whether there is a section of the name with something in it.
func (f *File) Has(name string) bool {
	s := f.find(name)
	return s != nil && s.FileSize > 0
}

// Raw is a section's bytes as they are in the file.
func (f *File) Raw(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(f.Image)) {
		return nil
	}
	return f.Image[s.Offset:min(s.Offset+s.FileSize, uint64(len(f.Image)))]
}

// Section is the contents of the section of a name, nil if there is none. One
// that is compressed is decompressed when it is first asked for.
func (f *File) Section(name string) []byte {
	s := f.find(name)
	if s == nil {
		return nil
	}
	if data, ok := f.inflated[s.Name]; ok {
		return data
	}
	raw := f.Raw(s)
	var h inflated
	var err error
	switch {
	case f.Compressed(name):
		h, err = f.inflate(s, raw)
	case f.ELF.Type == elf.ET_REL && f.repeated(name):
		h, err = f.joined(name)
	default:
		return raw
	}
	return f.keep(s, h, err)
}

// keep remembers what became of a section: its contents, or why there are none.
func (f *File) keep(s *elf.Section, h inflated, err error) []byte {
	if err != nil {
		if f.problem == nil {
			f.problem = fmt.Errorf("reading %s of %s: %w", s.Name, f.Path, err)
		}
		h = inflated{}
	}
	if f.inflated == nil {
		f.inflated = map[string][]byte{}
	}
	f.inflated[s.Name] = h.data
	f.held = append(f.held, h)
	return h.data
}

// repeated reports whether several sections have a name. Compilers put each
// type's unit into one of its own, which the linker then joins: but nothing
// links a .dwo file.
func (f *File) repeated(name string) bool {
	n := 0
	for _, s := range f.ELF.Sections {
		if s.Name == name {
			n++
		}
	}
	return n > 1
}

// joined is all sections of a name, one after the other.
func (f *File) joined(name string) (inflated, error) {
	var data []byte
	for _, s := range f.ELF.Sections {
		if s.Name != name || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		if data = append(data, f.Raw(s)...); len(data) > len(f.Image) {
			return inflated{}, errTooLong // they overlap
		}
	}
	if memory.Add(int64(len(data))) > maxMemory {
		memory.Add(-int64(len(data)))
		return inflated{}, errTooLong
	}
	return inflated{data: data}, nil
}

// inflate decompresses a section, whose header says how and to what size.
func (f *File) inflate(s *elf.Section, raw []byte) (inflated, error) {
	le := binary.LittleEndian
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		// ".zdebug_": "ZLIB", the size, big-endian, a zlib stream.
		if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
			return inflated{}, errHeader
		}
		return decompress(elf.COMPRESS_ZLIB, raw[12:], binary.BigEndian.Uint64(raw[4:]))
	}
	switch {
	case f.ELF.Class == elf.ELFCLASS64 && len(raw) >= 24:
		return decompress(elf.CompressionType(le.Uint32(raw)), raw[24:], le.Uint64(raw[8:]))
	case f.ELF.Class == elf.ELFCLASS32 && len(raw) >= 12:
		return decompress(elf.CompressionType(le.Uint32(raw)), raw[12:], uint64(le.Uint32(raw[4:])))
	}
	return inflated{}, errHeader
}
