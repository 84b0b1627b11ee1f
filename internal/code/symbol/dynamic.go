package symbol

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// debug/elf reads whole tables for the dynamic linker, of any size that the file states, and copies all
// their strings. The code here reads only what is needed.
const (
	maxDynamic = 1 << 16 // entries of a dynamic section; real ones have some dozens
	maxPaths   = 1 << 12 // names of libraries and directories
	maxPath    = 1 << 12 // bytes of a path; the kernel's limit
)

// dynamicStrings returns the strings to which entries of the dynamic section with the tags refer.
func (b *Binary) dynamicStrings(tags ...elf.DynTag) (names []string) {
	entries, texts := b.dynamic()
	for _, tag := range tags {
		for _, e := range entries {
			if e.tag == tag && len(names) < maxPaths {
				// Of a name that is too long no more is read: a hostile file names the same one again and again.
				if s := beginningAt(texts, uint32(min(e.value, 1<<32-1)), maxPath); len(s) > 0 && len(s) < maxPath {
					names = append(names, string(s))
				}
			}
		}
	}
	return names
}

// dynamicEntry is an entry of the dynamic section.
type dynamicEntry struct {
	tag   elf.DynTag
	value uint64
}

func (b *Binary) dynamic() (entries []dynamicEntry, strings []byte) {
	s := b.elf.SectionByType(elf.SHT_DYNAMIC)
	if s == nil {
		return nil, nil
	}
	if s.Link < uint32(len(b.elf.Sections)) {
		strings = b.raw(b.elf.Sections[s.Link])
	}
	size := 16
	if b.elf.Class == elf.ELFCLASS32 {
		size = 8
	}
	for data := b.raw(s); len(data) >= size && len(entries) < maxDynamic; data = data[size:] {
		e := dynamicEntry{elf.DynTag(binary.LittleEndian.Uint32(data)), uint64(binary.LittleEndian.Uint32(data[size/2:]))}
		if size == 16 {
			e = dynamicEntry{elf.DynTag(binary.LittleEndian.Uint64(data)), binary.LittleEndian.Uint64(data[8:])}
		}
		if e.tag == elf.DT_NULL {
			break
		}
		entries = append(entries, e)
	}
	return entries, strings
}

// dynamicSymbols are the symbols that relocations refer to by number, of a 64-bit file.
type dynamicSymbols struct{ table, strings []byte }

// symbolSize is the size of an entry, in bytes.
const symbolSize = 24

func (b *Binary) dynamicSymbols() (d dynamicSymbols) {
	s := b.elf.SectionByType(elf.SHT_DYNSYM)
	if s == nil || b.elf.Class != elf.ELFCLASS64 || s.Link >= uint32(len(b.elf.Sections)) {
		return d
	}
	return dynamicSymbols{b.raw(s), b.raw(b.elf.Sections[s.Link])}
}

func (d dynamicSymbols) len() int { return min(len(d.table)/symbolSize, maxSymbols) }

func (d dynamicSymbols) value(i int) uint64 {
	return binary.LittleEndian.Uint64(d.table[i*symbolSize+8:])
}

func (d dynamicSymbols) section(i int) elf.SectionIndex {
	return elf.SectionIndex(binary.LittleEndian.Uint16(d.table[i*symbolSize+6:]))
}

// isOneOf reports whether symbol i has one of the names.
func (d dynamicSymbols) isOneOf(i int, names []string) bool {
	at := uint64(binary.LittleEndian.Uint32(d.table[i*symbolSize:]))
	if at >= uint64(len(d.strings)) {
		return false
	}
	text := d.strings[at:]
	return slices.ContainsFunc(names, func(n string) bool {
		return len(text) > len(n) && string(text[:len(n)]) == n && text[len(n)] == 0
	})
}

// Variables gives the ELF file's addresses of exported symbols whose names begin with prefix.
func (b *Binary) Variables(prefix string) (addresses map[string]uint64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := "looking for " + prefix + "* in " + b.path
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	addresses = make(map[string]uint64)
	d := b.dynamicSymbols()
	for i := range d.len() {
		at := binary.LittleEndian.Uint32(d.table[i*symbolSize:])
		if name := stringAt(d.strings, at); strings.HasPrefix(name, prefix) && len(addresses) < maxVariables {
			addresses[name] = d.value(i)
		}
	}
	return addresses, nil
}

// maxVariables bounds what Variables gives.
const maxVariables = 1 << 10

// AddressOf gives the ELF file's address of what is at an offset in the file.
func (b *Binary) AddressOf(offset uint64) (addr uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, false
	}
	return b.address(offset)
}
