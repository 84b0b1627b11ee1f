package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// sym is one function of the symbol table, its name left in the string table:
// a browser has a million.
type sym struct {
	addr, size uint64
	name       uint32
	kind       elf.SymType
	bind       elf.SymBind
}

// symbols is the functions of a symbol table, ascending by address, those that
// name an address best last.
type symbols struct {
	all     []sym
	strings []byte
	text    []textSection
	// imports is what the binary calls and another library defines.
	imports map[string]bool
}

type textSection struct{ low, high uint64 }

// symbolTable reads the symbol table once: the full one, or what the binary
// exports if that is stripped.
func (b *Binary) symbolTable() *symbols {
	if b.symbols != nil {
		return b.symbols
	}
	t := &symbols{}
	for _, r := range b.text() {
		t.text = append(t.text, textSection{r.Low, r.High})
	}
	dynamic := b.elf.SectionByType(elf.SHT_DYNSYM)
	if s := b.elf.SectionByType(elf.SHT_SYMTAB); s != nil && s.FileSize > 0 {
		b.readSymbols(s, t, false)
	} else if dynamic != nil {
		b.readSymbols(dynamic, t, false)
	}
	if dynamic != nil {
		b.readSymbols(dynamic, t, true)
	}
	slices.SortFunc(t.all, func(x, y sym) int {
		if c := cmp.Compare(x.addr, y.addr); c != 0 {
			return c
		}
		return t.compareNames(x, y)
	})
	b.symbols = t
	return t
}

// readSymbols appends a section's functions to t, or notes its imports.
func (b *Binary) readSymbols(s *elf.Section, t *symbols, imports bool) {
	if s.Link >= uint32(len(b.elf.Sections)) {
		return
	}
	strings := b.raw(b.elf.Sections[s.Link])
	data := b.raw(s)
	entry := 24
	if b.elf.Class == elf.ELFCLASS32 {
		entry = 16
	}
	if imports {
		t.imports = map[string]bool{}
	} else {
		t.strings = strings
	}
	for ; len(data) >= entry; data = data[entry:] {
		var x sym
		var info byte
		var section uint16
		x.name = binary.LittleEndian.Uint32(data)
		if entry == 24 {
			info, section = data[4], binary.LittleEndian.Uint16(data[6:])
			x.addr, x.size = binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint64(data[16:])
		} else {
			x.addr, x.size = uint64(binary.LittleEndian.Uint32(data[4:])), uint64(binary.LittleEndian.Uint32(data[8:]))
			info, section = data[12], binary.LittleEndian.Uint16(data[14:])
		}
		x.kind, x.bind = elf.ST_TYPE(info), elf.ST_BIND(info)
		switch {
		case imports:
			if section == uint16(elf.SHN_UNDEF) && x.name != 0 {
				t.imports[stringAt(strings, x.name)] = true
			}
		case section != uint16(elf.SHN_UNDEF) && t.isCode(x):
			t.all = append(t.all, x)
		}
	}
}

// isCode reports whether a symbol stands for code: a function, or a label
// that assembly left in a section of code.
func (t *symbols) isCode(x sym) bool {
	switch x.kind {
	case elf.STT_FUNC, elf.STT_GNU_IFUNC:
	case elf.STT_NOTYPE:
		// Mapping symbols of arm64 ("$x", "$d") mark kinds of contents.
		if s := stringAt(t.strings, x.name); s == "" || s[0] == '$' || s[0] == '.' {
			return false
		}
	default:
		return false
	}
	return t.inText(x.addr)
}

func (t *symbols) inText(addr uint64) bool {
	for _, s := range t.text {
		if addr-s.low < s.high-s.low {
			return true
		}
	}
	return false
}

// compareNames orders symbols of one address by how well they name it.
func (t *symbols) compareNames(x, y sym) int {
	if c := cmp.Compare(rankKind(x), rankKind(y)); c != 0 {
		return c
	}
	// "_IO_puts" and "puts", "__write" and "write": the plain one is the name,
	// though in libc it is often the weak one.
	a, b := t.name(x), t.name(y)
	if c := cmp.Compare(underscores(b), underscores(a)); c != 0 {
		return c
	}
	if c := cmp.Compare(rankBind(x), rankBind(y)); c != 0 {
		return c
	}
	if c := cmp.Compare(len(b), len(a)); c != 0 {
		return c
	}
	return cmp.Compare(b, a)
}

func rankKind(s sym) int {
	r := 0
	if s.kind != elf.STT_NOTYPE {
		r += 2
	}
	if s.size > 0 {
		r++
	}
	return r
}

func rankBind(s sym) int {
	switch s.bind {
	case elf.STB_GLOBAL:
		return 2
	case elf.STB_WEAK:
		return 1
	}
	return 0
}

func underscores(s string) int {
	n := 0
	for n < len(s) && s[n] == '_' {
		n++
	}
	return n
}

// name is a symbol's name without a version ("memcpy@@GLIBC_2.14").
func (t *symbols) name(x sym) string {
	s := stringAt(t.strings, x.name)
	for i := 1; i < len(s); i++ {
		if s[i] == '@' {
			return s[:i]
		}
	}
	return s
}

// maxSteps bounds how many symbols before an address are tried: those of
// functions nested in, or aliased with, the one that holds it.
const maxSteps = 64

// find gives the symbol whose code an address is in.
func (t *symbols) find(addr uint64) (sym, bool) {
	i, _ := slices.BinarySearchFunc(t.all, addr, func(x sym, a uint64) int {
		if x.addr <= a {
			return -1
		}
		return 1
	})
	next := ^uint64(0)
	if i < len(t.all) {
		next = t.all[i].addr
	}
	for n := 0; i > 0 && n < maxSteps; n++ {
		i--
		x := t.all[i]
		// Assembly may not say how long a function is: up to the next one.
		if addr-x.addr < x.size || x.size == 0 && addr < next && t.sameSection(x.addr, addr) {
			return x, true
		}
		next = x.addr
	}
	return sym{}, false
}

// sameSection reports whether two addresses are in one section of code.
func (t *symbols) sameSection(a, b uint64) bool {
	for _, s := range t.text {
		if a-s.low < s.high-s.low {
			return b-s.low < s.high-s.low
		}
	}
	return false
}

// maxSymbol bounds a symbol's name.
const maxSymbol = 1 << 16

// stringAt is the string at an offset of a string table.
func stringAt(table []byte, off uint32) string {
	if uint64(off) >= uint64(len(table)) {
		return ""
	}
	s := table[off:]
	s = s[:min(len(s), maxSymbol)]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return string(s)
}
