package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"whatif/internal/spinwait"
)

// yields reports whether a function only makes room for others: one of that name, or a stub or another short function that
// comes to it and nothing else.
func (b *Binary) yields(c spinwait.Callee) bool {
	const steps = 8
	for range steps {
		addr := c.Addr
		if c.Kept {
			var name string
			if addr, name = b.kept(c.Addr); name != "" {
				return isYield(name)
			}
		}
		table := b.symbolTable()
		if x, found := table.find(addr); found && x.addr == addr && isYield(table.name(x)) {
			return true
		}
		var comes bool
		if c, comes = b.comesTo(addr); !comes {
			return false
		}
	}
	return false
}

func isYield(name string) bool { return name == "sched_yield" || name == "__sched_yield" }

// comesTo gives the function that the one at an address comes to, if that is all it does.
func (b *Binary) comesTo(addr uint64) (c spinwait.Callee, comes bool) {
	const most, long = 8, 64 // instructions, bytes
	code, called := b.bytesAt(addr, long), false
	for range most {
		if endbr := []byte{0xf3, 0x0f, 0x1e, 0xfa}; bytes.HasPrefix(code, endbr) {
			code, addr = code[len(endbr):], addr+uint64(len(endbr))
		}
		inst, err := x86asm.Decode(code, 64)
		if err != nil {
			break
		}
		code, addr = code[inst.Len:], addr+uint64(inst.Len)
		switch inst.Op {
		case x86asm.PUSH, x86asm.POP, x86asm.SUB, x86asm.ADD, x86asm.LEAVE, x86asm.NOP:
		case x86asm.MOV:
			if inst.Args[0] != x86asm.RBP || inst.Args[1] != x86asm.RSP {
				return c, false
			}
		case x86asm.RET:
			return c, called
		case x86asm.JMP, x86asm.CALL:
			if called {
				return c, false
			}
			switch to := inst.Args[0].(type) {
			case x86asm.Rel:
				c = spinwait.Callee{Addr: addr + uint64(int64(to))}
			case x86asm.Mem:
				c = spinwait.Callee{Addr: addr + uint64(to.Disp), Kept: true}
				if to.Base != x86asm.RIP || to.Index != 0 {
					return c, false
				}
			default:
				return c, false
			}
			if inst.Op == x86asm.JMP {
				return c, true
			}
			called = true
		default:
			return c, false
		}
	}
	return c, false
}

// kept gives what the program finds at an address of its data once it is loaded: the function of a name, or the one at an address.
func (b *Binary) kept(at uint64) (addr uint64, name string) {
	const entry = 24 // bytes of a relocation
	for _, s := range b.elf.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		for r := b.file.Raw(s); len(r) >= entry; r = r[entry:] {
			if binary.LittleEndian.Uint64(r) != at {
				continue
			}
			info := binary.LittleEndian.Uint64(r[8:])
			if elf.R_X86_64(info) == elf.R_X86_64_RELATIVE {
				return binary.LittleEndian.Uint64(r[16:]), ""
			}
			symbols, err := b.elf.DynamicSymbols()
			i := int(elf.R_SYM64(info)) - 1
			switch {
			case err != nil || i < 0 || i >= len(symbols):
				return 0, ""
			case symbols[i].Section != elf.SHN_UNDEF:
				return symbols[i].Value, "" // its own, unless another takes its place
			}
			return 0, symbols[i].Name
		}
	}
	return 0, ""
}
