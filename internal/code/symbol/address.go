package symbol

import (
	"debug/elf"

	"whatif/internal/code/symbol/dwarf"
)

// address returns the ELF file's address of a file offset. An offset may be in two segments, as
// segments can share a page of the file; then the executable segment counts.
func (b *Binary) address(offset uint64) (addr uint64, ok bool) {
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || offset-p.Off >= p.Filesz {
			continue
		}
		addr, ok = p.Vaddr+(offset-p.Off), true
		if p.Flags&elf.PF_X != 0 {
			break
		}
	}
	return addr, ok
}

// offset is the inverse of address.
func (b *Binary) offset(addr uint64) (offset uint64, ok bool) {
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || addr-p.Vaddr >= p.Filesz {
			continue
		}
		offset, ok = p.Off+(addr-p.Vaddr), true
		if p.Flags&elf.PF_X != 0 {
			break
		}
	}
	return offset, ok
}

// bytesAt returns up to n bytes of code at an address, fewer at a segment's end.
func (b *Binary) bytesAt(addr, n uint64) []byte {
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || addr-p.Vaddr >= p.Filesz {
			continue
		}
		from := p.Off + (addr - p.Vaddr)
		n = min(n, p.Filesz-(addr-p.Vaddr))
		if from >= uint64(len(b.image)) {
			return nil
		}
		return b.image[from:min(from+n, uint64(len(b.image)))]
	}
	return nil
}

// text returns the executable sections or, without section headers, the executable segments.
func (b *Binary) text() []dwarf.Range {
	var r []dwarf.Range
	for _, s := range b.elf.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Flags&elf.SHF_EXECINSTR != 0 {
			r = append(r, dwarf.Range{Low: s.Addr, High: s.Addr + s.Size})
		}
	}
	if len(r) > 0 {
		return r
	}
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			r = append(r, dwarf.Range{Low: p.Vaddr, High: p.Vaddr + p.Memsz})
		}
	}
	return r
}
