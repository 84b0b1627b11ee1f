package symbol

import (
	"debug/elf"
	"encoding/binary"
	"slices"

	"whatif/internal/code/spinwait"
)

// yields reports whether a function only yields the core: it is one of spinwait.Yielders, or a stub or
// wrapper of one.
func (b *Binary) yields(c spinwait.Callee) bool {
	yields, known := b.yielding[c]
	if !known {
		if b.yielding == nil || len(b.yielding) >= maxFunctions {
			b.yielding = map[spinwait.Callee]bool{}
		}
		yields = b.leadsToYielder(c)
		b.yielding[c] = yields
	}
	return yields
}

func (b *Binary) leadsToYielder(c spinwait.Callee) bool {
	const most = 8 // a stub, its table, a wrapper, its stub, …; there may be a cycle
	for range most {
		addr := c.Addr
		if c.InTable {
			var yields, ok bool
			if addr, yields, ok = b.linked(c.Addr); yields || !ok {
				return yields
			}
		}
		table := b.symbolTable()
		if x, found := table.find(addr); found && x.addr == addr && slices.Contains(spinwait.Yielders, table.name(x)) {
			return true
		}
		var ok bool
		if c, ok = spinwait.Wrapped(b.bytesAt(addr, spinwait.WrapperSize), addr); !ok {
			return false
		}
	}
	return false
}

// linkage has the relocations with which the loader fills the program's tables. It is empty if none of
// the symbols is one of spinwait.Yielders.
type linkage struct {
	symbols  dynamicSymbols
	tables   [][]byte       // relocations
	constant elf.ProgHeader // the part that is read-only after relocation
	left     int            // relocations that may still be looked at, see maxLooked
}

// maxRelocations bounds the tables, in bytes: linked may read all of them for one call in the code. maxLooked
// bounds the relocations that are looked at for all calls, which takes some seconds. A hostile program has
// a thousand calls in a function, and tables that are a hole. Tests make maxLooked smaller.
const maxRelocations = 64 << 20

var maxLooked = 1 << 31

func (b *Binary) readLinkage() *linkage {
	l := &linkage{}
	symbols, any := b.dynamicSymbols(), false
	for i := 0; i < symbols.len() && !any; i++ {
		any = symbols.isOneOf(i, spinwait.Yielders)
	}
	if !any {
		return l
	}
	l.symbols, l.left = symbols, maxLooked
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_GNU_RELRO {
			l.constant = p.ProgHeader
		}
	}
	size := 0
	for _, s := range b.elf.Sections {
		if !b.isDynamicRelocations(s) {
			continue
		}
		table := b.file.Raw(s)
		if size += len(table); size > min(len(b.image), maxRelocations) { // damaged: the tables overlap
			break
		}
		l.tables = append(l.tables, table)
	}
	return l
}

// isDynamicRelocations reports whether a section has relocations for the loader. Those that linkers leave
// for tools (--emit-relocs) number other symbols.
func (b *Binary) isDynamicRelocations(s *elf.Section) bool {
	return s.Type == elf.SHT_RELA && s.Flags&elf.SHF_ALLOC != 0 && int(s.Link) < len(b.elf.Sections) &&
		b.elf.Sections[s.Link].Type == elf.SHT_DYNSYM
}

// linked returns what the loader stores in a table at an address: the address of the program's own
// function, or whether it is another library's function that yields.
func (b *Binary) linked(at uint64) (addr uint64, yields, ok bool) {
	const entry = 24 // bytes of a relocation
	if b.linkage == nil {
		b.linkage = b.readLinkage()
	}
	l := b.linkage
	for _, r := range l.tables {
		for ; len(r) >= entry; r = r[entry:] {
			if l.left--; l.left < 0 {
				return 0, false, false
			}
			if binary.LittleEndian.Uint64(r) != at {
				continue
			}
			info, addend := binary.LittleEndian.Uint64(r[8:]), binary.LittleEndian.Uint64(r[16:])
			switch elf.R_X86_64(elf.R_TYPE64(info)) {
			case elf.R_X86_64_RELATIVE:
				// Elsewhere the pointer may be a variable, which the program has changed.
				return addend, false, at-l.constant.Vaddr < l.constant.Memsz
			case elf.R_X86_64_GLOB_DAT, elf.R_X86_64_JMP_SLOT:
				number := int(elf.R_SYM64(info))
				if number == 0 || number >= l.symbols.len() {
					return 0, false, false
				}
				// A defined symbol is the program's own, unless another library's replaces it.
				defined := l.symbols.section(number) != elf.SHN_UNDEF
				return l.symbols.value(number), l.symbols.isOneOf(number, spinwait.Yielders), defined
			}
			return 0, false, false
		}
	}
	return 0, false, false
}
