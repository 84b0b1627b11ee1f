package pclntab

import (
	"bytes"
	"debug/elf"
	"strings"
)

// Find returns the table of a Go binary, given its headers and its bytes; nil and no error if there is none.
//
// Go's linker puts the table into a section of its own. In a position-independent binary by another linker the
// table is somewhere in the read-only data. Without sections it is in some segment. In both cases Find
// searches for it.
func Find(f *elf.File, image []byte) (*Table, error) {
	m := &memory{f, image}
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if s := f.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
			return m.table(s.Addr)
		}
	}
	left := uint64(maxSearched)
	for _, s := range f.Sections {
		if s.Name == ".data.rel.ro" || s.Name == ".rodata" {
			if addr, ok := m.search(s.Addr, s.Size, &left); ok {
				return m.table(addr)
			}
		}
	}
	if len(f.Sections) > 0 {
		return nil, nil
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X == 0 {
			if addr, ok := m.search(p.Vaddr, p.Filesz, &left); ok {
				return m.table(addr)
			}
		}
	}
	return nil, nil
}

// search returns the address of a table in a range of addresses. left is the number of bytes that may be searched.
func (m *memory) search(addr, size uint64, left *uint64) (uint64, bool) {
	data := m.at(addr)
	data = data[:min(size, uint64(len(data)), *left)]
	*left -= uint64(len(data))
	// All magic numbers end in the same three bytes, and two zeros follow.
	common := []byte{0xff, 0xff, 0xff, 0, 0}
	for off := 0; ; {
		i := bytes.Index(data[off:], common)
		if i < 0 {
			return 0, false
		}
		off += i
		at := addr + uint64(off) - 1
		if off > 0 && at%4 == 0 && isHeader(data[off-1:]) {
			if t, err := parse(data[off-1:]); err == nil && t.nfunc > 1 {
				return at, true
			}
		}
		off++
	}
}

// table reads the table at an address, and the runtime's description of the module.
func (m *memory) table(addr uint64) (*Table, error) {
	t, err := parse(m.at(addr))
	if err != nil {
		return nil, err
	}
	t.mem = m
	if t.version >= go118 {
		t.inlined = m.module(t, addr)
		if !t.inlined && t.text == 0 {
			t.text = m.goText()
		}
	} else {
		// The table does not say whether its pointers are filled in, nor the number of its inline trees.
		t.inlined = t.version == go116 || m.builtBy("go1.14", "go1.15")
	}
	if t.entryAt(0) == 0 || t.entryAt(t.nfunc) <= t.entryAt(0) {
		return nil, errNone // only the dynamic linker fills in the pointers
	}
	return t, nil
}

// Offsets in runtime.moduledata, in words: the header's address, the table of names (address, length, capacity),
// …, minpc, maxpc, text, …
const (
	moduleNames  = 1
	moduleText   = 22
	moduleGofunc = 38 // Go 1.18 and 1.19
	coverage     = 2  // words that Go 1.20 put before it
)

// module finds the runtime's description of the module, and reads from it the address of the code and the base of
// funcdata. A stripped binary has no symbol for it, but nothing else begins with the address of the table
// and then the address of the names.
func (m *memory) module(t *Table, table uint64) bool {
	names := table + uint64(len(m.at(table))-len(t.names))
	slot := moduleGofunc
	if t.version >= go120 {
		slot += coverage
	}
	found := false
	m.pointersTo(table, t.ptr, func(at uint64) bool {
		w := m.pointers(at, t.ptr, slot+1)
		if w == nil || w[moduleNames] != names {
			return true
		}
		t.text, t.gofunc = w[moduleText], w[slot]
		found = len(m.at(t.gofunc)) > 0
		return false
	})
	return found
}

// goText returns the begin of Go's code if the table's header does not have it: with linkers other than Go's, a
// relocation fills it in.
func (m *memory) goText() uint64 {
	if s := m.elf.Section(".text"); s != nil {
		return s.Addr
	}
	return 0
}

// builtBy reports whether one of the versions of Go made the binary.
func (m *memory) builtBy(versions ...string) bool {
	made := GoVersion(m.elf, m.image)
	for _, v := range versions {
		if made == v || strings.HasPrefix(made, v+".") {
			return true
		}
	}
	return false
}
