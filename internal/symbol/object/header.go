package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
)

// debug/elf believes the counts and sizes in a file's headers, up to the file's length: a sparse file of
// some gigabytes costs its owner nothing, and debug/elf as much memory. So headers are checked before it
// reads them.
const (
	// maxProgs is what the kernel takes at most: 64 KiB of program headers. More have to be
	// counted elsewhere (PN_XNUM), which is for core dumps.
	maxProgs = 65536 / 56
	// maxSections is several times what compilers make of the largest .dwo files, where each type
	// has a section of its own. Programs and libraries have some dozens.
	maxSections = 100_000
	// maxSectionName and maxSectionNames bound the names of sections: debug/elf copies each of them, and all
	// may begin in one long string.
	maxSectionName  = 1 << 12
	maxSectionNames = 16 << 20
)

var (
	errTooShort = errors.New("damaged file: its headers are cut off")
	errEntry    = errors.New("damaged file: its headers are of an unknown size")
)

// fields is where an ELF header and section headers have what is checked, for one class.
type fields struct {
	header                        int
	phentsize, phnum              int
	shoff, shentsize, shnum, shst int
	prog, section                 int // sizes of one header
	offset, size, link            int // in a section header
	wide                          bool
}

var classes = map[elf.Class]fields{
	elf.ELFCLASS32: {header: 52, shoff: 32, phentsize: 42, phnum: 44, shentsize: 46, shnum: 48, shst: 50, prog: 32, section: 40, offset: 16, size: 20, link: 24},
	elf.ELFCLASS64: {header: 64, shoff: 40, phentsize: 54, phnum: 56, shentsize: 58, shnum: 60, shst: 62, prog: 56, section: 64, offset: 24, size: 32, link: 40, wide: true},
}

// checkHeaders refuses a file whose headers would take more than a few dozen megabytes. What else is wrong
// with them, debug/elf says.
func checkHeaders(image []byte) error {
	if len(image) < elf.EI_NIDENT {
		return errTooShort
	}
	f, known := classes[elf.Class(image[elf.EI_CLASS])]
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(image[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	switch {
	case !known:
		return nil // debug/elf says so
	case len(image) < f.header:
		return errTooShort
	}
	word := func(at []byte) uint64 {
		if f.wide {
			return order.Uint64(at)
		}
		return uint64(order.Uint32(at))
	}
	progs := int(order.Uint16(image[f.phnum:]))
	if progs > maxProgs {
		return fmt.Errorf("it has %d program headers: more than %d are not read", progs, maxProgs)
	}
	if progs > 0 && int(order.Uint16(image[f.phentsize:])) != f.prog {
		return errEntry
	}
	start, count := word(image[f.shoff:]), uint64(order.Uint16(image[f.shnum:]))
	if start == 0 {
		return nil
	}
	if int(order.Uint16(image[f.shentsize:])) != f.section && count > 0 {
		return errEntry
	}
	if start > uint64(len(image)) || uint64(len(image))-start < uint64(f.section) {
		return errTooShort
	}
	first := image[start:]
	names := uint64(order.Uint16(image[f.shst:]))
	if count == 0 {
		// More than 16 bits hold: section 0, which is none, says how many.
		if count = word(first[f.size:]); int(order.Uint16(image[f.shentsize:])) != f.section && count > 0 {
			return errEntry
		}
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(order.Uint32(first[f.link:]))
	}
	if count > maxSections {
		return fmt.Errorf("it has %d sections: more than %d are not read", count, maxSections)
	}
	headers := image[start:]
	if uint64(len(headers)) < count*uint64(f.section) {
		return errTooShort
	}
	if names == 0 || names >= count {
		return nil
	}
	return checkNames(headers[:count*uint64(f.section)], f, order, image, headers[names*uint64(f.section):], word)
}

// checkNames adds up how long the names of sections are.
func checkNames(headers []byte, f fields, order binary.ByteOrder, image, table []byte, word func([]byte) uint64) error {
	from, size := word(table[f.offset:]), word(table[f.size:])
	if from > uint64(len(image)) || size > uint64(len(image))-from || size > maxSectionNames {
		return errors.New("damaged file: the names of its sections are too long")
	}
	text := image[from : from+size]
	total := 0
	for ; len(headers) > 0; headers = headers[f.section:] {
		at := uint64(order.Uint32(headers))
		if at >= size {
			continue // debug/elf says so
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
