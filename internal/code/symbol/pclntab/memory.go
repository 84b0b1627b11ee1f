package pclntab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// memory gives access to a binary by the addresses at which it would be loaded.
type memory struct {
	elf   *elf.File
	image []byte
}

// at returns the bytes from an address up to the end of its segment.
func (m *memory) at(addr uint64) []byte {
	for _, p := range m.elf.Progs {
		if p.Type != elf.PT_LOAD || addr-p.Vaddr >= p.Filesz {
			continue
		}
		if s := m.segment(p); addr-p.Vaddr < uint64(len(s)) {
			return s[addr-p.Vaddr:]
		}
	}
	return nil
}

func (m *memory) segment(p *elf.Prog) []byte {
	if p.Off > uint64(len(m.image)) {
		return nil
	}
	return m.image[p.Off:min(p.Off+p.Filesz, uint64(len(m.image)))]
}

// Bounds of searches, several times what the largest programs need. A hostile file may state terabytes that are a hole,
// or have the same bytes in a thousand segments.
const (
	maxSearched    = 256 << 20 // bytes in which something is searched
	maxRelocations = 64 << 20  // bytes of dynamic relocations
	maxDynamic     = 1 << 20   // bytes of the dynamic section
	maxPointers    = 64        // pointers to one address
)

// pointersTo calls visit for the aligned pointers to addr until visit returns false: those in the file, and those
// that the dynamic linker would write.
func (m *memory) pointersTo(addr, size uint64, visit func(at uint64) bool) {
	pattern := make([]byte, size)
	if size == 8 {
		binary.LittleEndian.PutUint64(pattern, addr)
	} else {
		binary.LittleEndian.PutUint32(pattern, uint32(addr))
	}
	pointers, left := maxPointers, maxSearched
	found := func(at uint64) bool {
		pointers--
		return visit(at) && pointers > 0
	}
	for _, p := range m.elf.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X != 0 || p.Flags&elf.PF_W == 0 {
			continue
		}
		s := m.segment(p)
		s = s[:min(len(s), left)]
		left -= len(s)
		for off := 0; ; {
			i := bytes.Index(s[off:], pattern)
			if i < 0 {
				break
			}
			off += i
			if uint64(off)%size == p.Vaddr%size && !found(p.Vaddr+uint64(off)) {
				return
			}
			off++
		}
	}
	m.relocations(func(at, to uint64) bool { return to != addr || found(at) })
}

// relocations calls visit for the pointers that the dynamic linker computes from the load address and an addend,
// until visit returns false. Linkers other than Go's leave zero in the file at such a place. With packed
// relocations (DT_RELR), which are not read here, the pointer is in the file.
func (m *memory) relocations(visit func(at, to uint64) bool) {
	rela, relative := m.rela()
	for len(rela) >= 24 {
		if binary.LittleEndian.Uint64(rela[8:]) == relative &&
			!visit(binary.LittleEndian.Uint64(rela), binary.LittleEndian.Uint64(rela[16:])) {
			return
		}
		rela = rela[24:]
	}
}

// rela returns the dynamic relocations with addends, and the type that is relative to the load address.
func (m *memory) rela() (table []byte, relative uint64) {
	switch m.elf.Machine {
	case elf.EM_X86_64:
		relative = uint64(elf.R_X86_64_RELATIVE)
	case elf.EM_AARCH64:
		relative = uint64(elf.R_AARCH64_RELATIVE)
	default:
		return nil, 0
	}
	for _, p := range m.elf.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		var addr, size uint64
		d := m.segment(p)
		for d = d[:min(len(d), maxDynamic)]; len(d) >= 16; d = d[16:] {
			switch elf.DynTag(binary.LittleEndian.Uint64(d)) {
			case elf.DT_RELA:
				addr = binary.LittleEndian.Uint64(d[8:])
			case elf.DT_RELASZ:
				size = binary.LittleEndian.Uint64(d[8:])
			}
		}
		table = m.at(addr)
		return table[:min(uint64(len(table)), size, maxRelocations)], relative
	}
	return nil, relative
}

// pointers reads n words from an address on, with the values that the dynamic linker will write.
func (m *memory) pointers(addr, size uint64, n int) []uint64 {
	data := m.at(addr)
	if uint64(len(data)) < size*uint64(n) {
		return nil
	}
	words := make([]uint64, n)
	for i := range words {
		if size == 8 {
			words[i] = binary.LittleEndian.Uint64(data[8*i:])
		} else {
			words[i] = uint64(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
	if size == 8 {
		m.relocations(func(at, to uint64) bool {
			if i := (at - addr) / 8; at >= addr && i < uint64(n) && (at-addr)%8 == 0 {
				words[i] = to
			}
			return true
		})
	}
	return words
}
