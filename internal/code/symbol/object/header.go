package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds of a file's headers. debug/elf trusts the counts and sizes in headers up to the file's length.
// For a sparse file of some gigabytes, which costs its owner nothing, it takes as much memory. So the
// headers are checked before.
const (
	// maxProgs is the most that the kernel accepts: 64 KiB of program headers. More are possible only
	// with PN_XNUM, in core dumps.
	maxProgs = 65536 / 56
	// maxSections is several times what the largest .dwo files have, in which each type has a section.
	// Programs and libraries have some dozens of sections.
	maxSections = 100_000
	// maxSectionName and maxSectionNames bound the names of sections, in bytes. debug/elf copies each
	// name, and all may be ends of one long string.
	maxSectionName  = 1 << 12
	maxSectionNames = 16 << 20
)

var (
	errTooShort = errors.New("damaged file: its headers are cut off")
	errEntry    = errors.New("damaged file: its headers are of an unknown size")
)

// fields has the offsets of the checked fields of ELF headers and section headers, for one class.
type fields struct {
	header                            int // size of the ELF header
	phentsize, phnum                  int
	shoff, shentsize, shnum, shstrndx int
	prog, section                     int // sizes of a program header and a section header
	flags, offset, size, link         int // in a section header
	wide                              bool
	order                             binary.ByteOrder // of the file
}

// longestELFHeader is the size of the ELF header of the wider class.
const longestELFHeader = 64

// word reads a number of the class's size.
func (f *fields) word(at []byte) uint64 {
	if f.wide {
		return f.order.Uint64(at)
	}
	return uint64(f.order.Uint32(at))
}

var classes = map[elf.Class]fields{
	elf.ELFCLASS32: {
		header: 52, shoff: 32, phentsize: 42, phnum: 44, shentsize: 46, shnum: 48, shstrndx: 50,
		prog: 32, section: 40, flags: 8, offset: 16, size: 20, link: 24,
	},
	elf.ELFCLASS64: {
		header: 64, shoff: 40, phentsize: 54, phnum: 56, shentsize: 58, shnum: 60, shstrndx: 62,
		prog: 56, section: 64, flags: 8, offset: 24, size: 32, link: 40, wide: true,
	},
}

// checkHeaders refuses a file if its headers would take more than a few dozen megabytes. debug/elf finds
// other errors in them, and reads them again. So it must be given the snapshot, in which the headers stay
// as they were checked: the file's owner may change them at any time.
func checkHeaders(image []byte) (*snapshot, error) {
	c := &snapshot{image: image}
	h := c.keep(0, min(longestELFHeader, uint64(len(image))))
	if len(h) < elf.EI_NIDENT {
		return nil, errTooShort
	}
	f, known := classes[elf.Class(h[elf.EI_CLASS])]
	f.order = binary.LittleEndian
	if elf.Data(h[elf.EI_DATA]) == elf.ELFDATA2MSB {
		f.order = binary.BigEndian
	}
	switch {
	case !known:
		return c, nil // debug/elf reports the class
	case len(h) < f.header:
		return nil, errTooShort
	}
	progs := int(f.order.Uint16(h[f.phnum:]))
	if progs > maxProgs {
		return nil, fmt.Errorf("it has %d program headers: more than %d are not read", progs, maxProgs)
	}
	if progs > 0 && int(f.order.Uint16(h[f.phentsize:])) != f.prog {
		return nil, errEntry
	}
	if f.word(h[f.shoff:]) == 0 {
		return c, nil
	}
	return c, checkSections(c, f, h)
}

// checkSections refuses a file if its section headers are too many. h is the ELF header.
func checkSections(c *snapshot, f fields, h []byte) error {
	start, count := f.word(h[f.shoff:]), uint64(f.order.Uint16(h[f.shnum:]))
	size, names := int(f.order.Uint16(h[f.shentsize:])), uint64(f.order.Uint16(h[f.shstrndx:]))
	if size != f.section && count > 0 {
		return errEntry
	}
	room := uint64(len(c.image)) - min(start, uint64(len(c.image)))
	if room < uint64(f.section) {
		return errTooShort
	}
	first := c.keep(start, uint64(f.section))
	if count == 0 {
		// The count does not fit into 16 bits: section 0, which is no section, has it.
		if count = f.word(first[f.size:]); size != f.section && count > 0 {
			return errEntry
		}
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(f.order.Uint32(first[f.link:]))
	}
	if count > maxSections {
		return fmt.Errorf("it has %d sections: more than %d are not read", count, maxSections)
	}
	if room < count*uint64(f.section) {
		return errTooShort
	}
	headers := c.keep(start, count*uint64(f.section))
	copy(headers, first)
	if names == 0 || names >= count {
		return nil
	}
	return checkNames(c, f, headers, headers[names*uint64(f.section):])
}

// checkNames refuses a file if the names of its sections are too long, one by one or together. table is
// the header of the section that has them.
func checkNames(c *snapshot, f fields, headers, table []byte) error {
	// debug/elf would decompress them, however long they are then.
	if elf.SectionFlag(f.word(table[f.flags:]))&elf.SHF_COMPRESSED != 0 {
		return errors.New("damaged file: the names of its sections are compressed")
	}
	from, size := f.word(table[f.offset:]), f.word(table[f.size:])
	if from > uint64(len(c.image)) || size > uint64(len(c.image))-from || size > maxSectionNames {
		return errors.New("damaged file: the names of its sections are too long")
	}
	text := c.keep(from, size)
	total := 0
	for ; len(headers) > 0; headers = headers[f.section:] {
		at := uint64(f.order.Uint32(headers))
		if at >= size {
			continue // debug/elf reports it
		}
		name := text[at:]
		n := bytes.IndexByte(name[:min(len(name), maxSectionName)], 0)
		if n < 0 {
			return errors.New("damaged file: the name of a section is too long")
		}
		if total += n; total > maxSectionNames {
			return errors.New("damaged file: the names of its sections are too long")
		}
	}
	return nil
}
