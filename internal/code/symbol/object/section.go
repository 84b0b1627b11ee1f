package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// named has the sections of one name.
type named struct {
	first *elf.Section
	n     int
}

// byName returns a file's sections by name. A file may have many, and look-ups ask for sections over and
// over.
func byName(sections []*elf.Section) map[string]named {
	all := make(map[string]named, len(sections))
	for _, s := range sections {
		of := all[s.Name]
		if of.first == nil {
			of.first = s
		}
		of.n++
		all[s.Name] = of
	}
	return all
}

// find returns a section by its name, such as ".debug_info", nil if there is none. In GNU's old form of
// compression the section is called ".zdebug_info".
func (f *File) find(name string) *elf.Section {
	if s := f.named[name].first; s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	if !strings.HasPrefix(name, ".debug_") {
		return nil
	}
	if s := f.named[".z"+name[1:]].first; s != nil && s.Type != elf.SHT_NOBITS {
		return s
	}
	return nil
}

// Has reports whether there is a section of the name that is not empty.
func (f *File) Has(name string) bool {
	s := f.find(name)
	return s != nil && s.FileSize > 0
}

// Raw returns a section's bytes in the file, still compressed.
func (f *File) Raw(s *elf.Section) []byte {
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(f.Image)) {
		return nil
	}
	return f.Image[s.Offset:min(s.Offset+s.FileSize, uint64(len(f.Image)))]
}

// Section returns the contents of the section of a name, nil if there is none. A compressed section is
// decompressed when it is first needed.
func (f *File) Section(name string) []byte { return f.SectionUpto(name, math.MaxUint64) }

// SectionUpto is Section for a caller that reads no bytes from end on: those of a compressed section may
// be zeros. The result is nil if the section cannot be decompressed so far.
func (f *File) SectionUpto(name string, end uint64) []byte {
	s := f.find(name)
	if s == nil {
		return nil
	}
	if f.Compressed(name) {
		z := f.stream(name)
		if z == nil {
			return nil
		}
		if z.from != nil && (end > z.done || end >= uint64(len(z.data))) {
			f.grow(name, z, end)
		}
		if z.err != nil && end > z.done || z.err != nil && !z.used {
			f.addProblem(s, z.err)
			return nil
		}
		z.used = z.used || end > 0
		return z.data
	}
	if f.ELF.Type != elf.ET_REL || !f.repeated(name) {
		return f.Raw(s)
	}
	data, known := f.joined[s.Name]
	if !known {
		var err error
		if data, err = f.join(name); err != nil {
			f.addProblem(s, err)
		}
		if f.joined == nil {
			f.joined = map[string][]byte{}
		}
		f.joined[s.Name] = data
	}
	return data
}

// addProblem records why a section cannot be read.
func (f *File) addProblem(s *elf.Section, err error) {
	if f.problem == nil {
		f.problem = fmt.Errorf("reading %s of %s: %w", s.Name, f.Path, err)
	}
}

// stream returns the stream of a compressed section, nil if it cannot be read.
func (f *File) stream(name string) *stream {
	s := f.find(name)
	if s == nil || !f.Compressed(name) {
		return nil
	}
	z, known := f.streams[s.Name]
	if !known {
		var err error
		if z, err = f.unpack(s, f.Raw(s)); err != nil {
			f.addProblem(s, err)
		}
		if f.streams == nil {
			f.streams = map[string]*stream{}
		}
		f.streams[s.Name] = z
	}
	return z
}

// repeated reports whether several sections have a name. Compilers put each type's unit into a section of
// its own. A linker joins them, but .dwo files are not linked.
func (f *File) repeated(name string) bool { return f.named[name].n > 1 }

// join concatenates all sections of a name.
func (f *File) join(name string) ([]byte, error) {
	var parts [][]byte
	size := 0
	for _, s := range f.ELF.Sections {
		if s.Name != name || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
			continue
		}
		part := f.Raw(s)
		parts = append(parts, part)
		if size += len(part); size > len(f.Image) {
			return nil, errTooLong // they overlap
		}
	}
	// This check comes before the copy: a file may be sparse, and a copy is not.
	if memory.Add(int64(size)) > maxMemory {
		memory.Add(-int64(size))
		return nil, errTooLong
	}
	return slices.Concat(parts...), nil
}

// unpack prepares to decompress a section. The section's header has the kind of compression and the size.
func (f *File) unpack(s *elf.Section, raw []byte) (*stream, error) {
	le := binary.LittleEndian
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		// ".zdebug_": "ZLIB", the size, big-endian, a zlib stream.
		if len(raw) < 12 || string(raw[:4]) != "ZLIB" {
			return nil, errHeader
		}
		return newStream(elf.COMPRESS_ZLIB, raw[12:], binary.BigEndian.Uint64(raw[4:]))
	}
	switch {
	case f.ELF.Class == elf.ELFCLASS64 && len(raw) >= 24:
		return newStream(elf.CompressionType(le.Uint32(raw)), raw[24:], le.Uint64(raw[8:]))
	case f.ELF.Class == elf.ELFCLASS32 && len(raw) >= 12:
		return newStream(elf.CompressionType(le.Uint32(raw)), raw[12:], uint64(le.Uint32(raw[4:])))
	}
	return nil, errHeader
}
