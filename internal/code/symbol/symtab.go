package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"whatif/internal/code/symbol/object"
)

// sym is one function of the symbol table. Its name stays in the string table, because a browser has a
// million functions.
type sym struct {
	addr, size uint64
	name       uint32
	kind       elf.SymType
	bind       elf.SymBind
}

// symbols holds the functions of a symbol table, ascending by address. Of several at one address the
// best name comes last.
type symbols struct {
	all     []sym
	strings []byte
	text    []textSection
	// imports has the functions that the binary calls and another library defines.
	imports map[string]bool
}

type textSection struct{ low, high uint64 }

// Bounds of symbol tables: several times what browsers have, which are the largest programs.
const (
	maxSymbols = 16 << 20 // entries that are read
	maxCode    = 4 << 20  // entries that are code
	maxStrings = 64 << 20 // bytes of a second string table
	maxImports = 16 << 20 // bytes of the names of imports
)

// symbolTable reads the symbol table once: the full one, of the binary or of its separate debug file.
// If both are stripped, it reads the exported functions, and the rest from mini debug information.
func (b *Binary) symbolTable() *symbols {
	if b.symbols != nil {
		return b.symbols
	}
	t := &symbols{}
	for _, r := range b.text() {
		t.text = append(t.text, textSection{r.Low, r.High})
	}
	t.text = apart(t.text)
	dynamic := b.elf.SectionByType(elf.SHT_DYNSYM)
	if f := b.fullSymbols(); f != nil {
		readSymbols(f, f.ELF.SectionByType(elf.SHT_SYMTAB), t, false)
	} else {
		if mini := b.finder.Mini(); mini != nil {
			readSymbols(mini, mini.ELF.SectionByType(elf.SHT_SYMTAB), t, false)
		}
		readSymbols(b.file, dynamic, t, false)
	}
	readSymbols(b.file, dynamic, t, true)
	slices.SortFunc(t.all, func(x, y sym) int {
		if c := cmp.Compare(x.addr, y.addr); c != 0 {
			return c
		}
		return t.compareNames(x, y)
	})
	b.file.Release() // sorting read names all over the string table
	b.symbols = t
	return t
}

// fullSymbols returns the file with the binary's full symbol table, nil if there is none.
func (b *Binary) fullSymbols() *object.File {
	if b.file.Has(".symtab") {
		return b.file
	}
	if f := b.separateFile(); f != nil && f.Has(".symtab") {
		return f
	}
	return nil
}

// releaseEvery is the number of symbols after which the memory of the mapped file is released: some
// 6 MiB.
const releaseEvery = 1 << 18

// readSymbols adds a section's functions, or with imports its imports, to t.
func readSymbols(f *object.File, s *elf.Section, t *symbols, imports bool) {
	if s == nil || s.Link >= uint32(len(f.ELF.Sections)) {
		return
	}
	strings := f.Raw(f.ELF.Sections[s.Link])
	data := f.Raw(s)
	entry := 24
	if f.ELF.Class == elf.ELFCLASS32 {
		entry = 16
	}
	base := uint32(0)
	switch {
	case imports:
		t.imports = map[string]bool{}
	case t.strings == nil:
		t.strings = strings
	default:
		// The second table: copy both string tables into one.
		base = uint32(min(len(t.strings), maxStrings))
		t.strings = slices.Concat(t.strings[:min(len(t.strings), maxStrings)], strings[:min(len(strings), maxStrings)])
	}
	data = data[:min(len(data), maxSymbols*entry)]
	length := 0 // of the names of imports
	for n := 1; len(data) >= entry && len(t.all) < maxCode && length < maxImports; data = data[entry:] {
		if n++; n%releaseEvery == 0 {
			f.Release()
		}
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
				name := stringAt(strings, x.name)
				length += len(name)
				t.imports[name] = true
			}
		case section != uint16(elf.SHN_UNDEF):
			if x.name += base; t.isCode(x) {
				t.all = append(t.all, x)
			}
		}
	}
}

// isCode reports whether a symbol stands for code: a function, or a label in a section of code.
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

func (t *symbols) inText(addr uint64) bool { return t.section(addr) >= 0 }

// section returns the index of the code section that an address is in, -1 if there is none.
func (t *symbols) section(addr uint64) int {
	i, found := slices.BinarySearchFunc(t.text, addr, func(s textSection, a uint64) int { return cmp.Compare(s.low, a) })
	if !found {
		i--
	}
	if i < 0 || addr >= t.text[i].high {
		return -1
	}
	return i
}

// apart sorts sections and joins those that overlap. Only damaged files have such.
func apart(text []textSection) (sorted []textSection) {
	slices.SortFunc(text, func(x, y textSection) int { return cmp.Compare(x.low, y.low) })
	for _, s := range text {
		if n := len(sorted); n > 0 && s.low < sorted[n-1].high {
			sorted[n-1].high = max(sorted[n-1].high, s.high)
		} else if s.low < s.high {
			sorted = append(sorted, s)
		}
	}
	return sorted
}

// compareNames orders the symbols of one address; the best name comes last.
func (t *symbols) compareNames(x, y sym) int {
	if c := cmp.Compare(rankKind(x), rankKind(y)); c != 0 {
		return c
	}
	// Of "_IO_puts" and "puts", "__write" and "write" the plain name is better, although in libc it is
	// often the weak one.
	a, b := t.beginning(x), t.beginning(y)
	if c := cmp.Compare(underscores(b), underscores(a)); c != 0 {
		return c
	}
	if c := cmp.Compare(rankBind(x), rankBind(y)); c != 0 {
		return c
	}
	if c := cmp.Compare(len(b), len(a)); c != 0 {
		return c
	}
	return cmp.Or(bytes.Compare(b, a), cmp.Compare(y.name, x.name))
}

// maxCompared bounds the bytes of a name that are compared. Real aliases differ early; comparing long
// equal names would make the sort slow.
const maxCompared = 256

// beginning returns the first maxCompared bytes of name.
func (t *symbols) beginning(x sym) []byte {
	if uint64(x.name) >= uint64(len(t.strings)) {
		return nil
	}
	s := t.strings[x.name:]
	s = s[:min(len(s), maxCompared)]
	for i, c := range s {
		if c == 0 || c == '@' && i > 0 {
			return s[:i]
		}
	}
	return s
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

func underscores(s []byte) int {
	n := 0
	for n < len(s) && s[n] == '_' {
		n++
	}
	return n
}

// name returns a symbol's name without its version ("memcpy@@GLIBC_2.14").
func (t *symbols) name(x sym) string {
	s := stringAt(t.strings, x.name)
	if s == "" {
		return ""
	}
	if i := strings.IndexByte(s[1:], '@'); i >= 0 {
		return s[:1+i]
	}
	return s
}

// stringsFrom returns the string table from the name of a symbol on.
func (t *symbols) stringsFrom(x sym) []byte {
	return t.strings[min(uint64(x.name), uint64(len(t.strings))):]
}

// maxSteps bounds the symbols before an address that are tried. Functions that are nested in the right
// one, and aliases, come first.
const maxSteps = 64

// find returns the symbol with the code at an address.
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
		// A function in assembly may have no size: it then goes up to the next one.
		if addr-x.addr < x.size || x.size == 0 && addr < next && t.sameSection(x.addr, addr) {
			return x, true
		}
		next = x.addr
	}
	return sym{}, false
}

// sameSection reports whether two addresses are in one section of code.
func (t *symbols) sameSection(a, b uint64) bool {
	i := t.section(a)
	return i >= 0 && i == t.section(b)
}

// maxSymbol bounds a symbol's name.
const maxSymbol = 1 << 16

// stringAt returns the string at an offset of a string table.
func stringAt(table []byte, off uint32) string { return string(beginningAt(table, off, maxSymbol)) }

// beginningAt returns up to most bytes of the string at an offset of a string table.
func beginningAt(table []byte, off uint32, most int) []byte {
	if uint64(off) >= uint64(len(table)) {
		return nil
	}
	s := table[off:]
	s = s[:min(len(s), most)]
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}
