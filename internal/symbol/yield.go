package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"whatif/internal/spinwait"
)

// yields reports whether a function only makes room for others: one of yielders, or a stub or wrapper of one.
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
	const most = 8 // a stub, its table, a wrapper, its stub, …: there may be a ring
	for range most {
		addr := c.Addr
		if c.InTable {
			var yields, ok bool
			if addr, yields, ok = b.linked(c.Addr); yields || !ok {
				return yields
			}
		}
		table := b.symbolTable()
		if x, found := table.find(addr); found && x.addr == addr && slices.Contains(yielders, table.name(x)) {
			return true
		}
		var ok bool
		if c, ok = b.wrapped(addr); !ok {
			return false
		}
	}
	return false
}

// wrapped gives the function that the one at an address only calls or jumps to: it is a stub or a wrapper.
func (b *Binary) wrapped(addr uint64) (c spinwait.Callee, ok bool) {
	const most, long = 8, 64 // instructions and bytes: what is longer does more
	code, called := b.bytesAt(addr, long), false
	for range most {
		// ENDBR64, which the decoder does not know.
		if endbr := []byte{0xf3, 0x0f, 0x1e, 0xfa}; bytes.HasPrefix(code, endbr) {
			code, addr = code[len(endbr):], addr+uint64(len(endbr))
		}
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			return c, false
		}
		code, addr = code[inst.Len:], addr+uint64(inst.Len)
		switch {
		case inst.Op == x86asm.RET:
			return c, called
		case inst.Op == x86asm.JMP || inst.Op == x86asm.CALL:
			if called {
				return c, false
			}
			if c, ok = spinwait.CalleeOf(&inst, addr); !ok || inst.Op == x86asm.JMP {
				return c, ok
			}
			called = true
		case !keepsFrame(&inst):
			return c, false
		}
	}
	return c, false
}

// keepsFrame reports whether an instruction only makes the stack frame, or takes it away.
func keepsFrame(inst *x86asm.Inst) bool {
	_, register := inst.Args[0].(x86asm.Reg)
	_, constant := inst.Args[1].(x86asm.Imm)
	switch inst.Op {
	case x86asm.NOP, x86asm.LEAVE:
		return true
	case x86asm.PUSH, x86asm.POP:
		return register
	case x86asm.ADD, x86asm.SUB:
		return inst.Args[0] == x86asm.RSP && constant
	case x86asm.MOV:
		return inst.Args[0] == x86asm.RBP && inst.Args[1] == x86asm.RSP
	}
	return false
}

// linkage is what the loader puts into the program's tables: nothing, where no function of yielders is among it.
type linkage struct {
	symbols  dynamicSymbols
	tables   [][]byte       // relocations
	constant elf.ProgHeader // what is read-only when they are done
}

// maxRelocations bounds the tables, in bytes: all of them may be gone through for each call of a function.
const maxRelocations = 64 << 20

func (b *Binary) readLinkage() *linkage {
	l := &linkage{}
	symbols, any := b.dynamicSymbols(), false
	for i := 0; i < symbols.len() && !any; i++ {
		any = symbols.isOneOf(i, yielders)
	}
	if !any {
		return l
	}
	l.symbols = symbols
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_GNU_RELRO {
			l.constant = p.ProgHeader
		}
	}
	size := 0
	for _, s := range b.elf.Sections {
		// What linkers leave for tools, with --emit-relocs, counts other symbols.
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 || int(s.Link) >= len(b.elf.Sections) || b.elf.Sections[s.Link].Type != elf.SHT_DYNSYM {
			continue
		}
		table := b.file.Raw(s)
		if size += len(table); size > min(len(b.image), maxRelocations) { // damaged: they lie one over another
			break
		}
		l.tables = append(l.tables, table)
	}
	return l
}

// linked gives what the loader puts into a table: the address of a function of the program's own, or whether it is another's that yields.
func (b *Binary) linked(at uint64) (addr uint64, yields, ok bool) {
	const entry = 24 // bytes of a relocation
	if b.linkage == nil {
		b.linkage = b.readLinkage()
	}
	l := b.linkage
	for _, r := range l.tables {
		for ; len(r) >= entry; r = r[entry:] {
			if binary.LittleEndian.Uint64(r) != at {
				continue
			}
			info, addend := binary.LittleEndian.Uint64(r[8:]), binary.LittleEndian.Uint64(r[16:])
			switch elf.R_X86_64(elf.R_TYPE64(info)) {
			case elf.R_X86_64_RELATIVE:
				// Elsewhere it may be a variable, and point to something else by now.
				return addend, false, at-l.constant.Vaddr < l.constant.Memsz
			case elf.R_X86_64_GLOB_DAT, elf.R_X86_64_JMP_SLOT:
				number := int(elf.R_SYM64(info))
				if number == 0 || number >= l.symbols.len() {
					return 0, false, false
				}
				// Its own it is unless another library's takes its place.
				return l.symbols.value(number), l.symbols.isOneOf(number, yielders), l.symbols.section(number) != elf.SHN_UNDEF
			}
			return 0, false, false
		}
	}
	return 0, false, false
}
