package symbol

import (
	"debug/elf"
	"fmt"

	"whatif/internal/code/symbol/pclntab"
)

// EachFunc calls visit for the binary's functions with a name and an entry, ascending by address, until
// visit returns false. Functions of the language's own library are left out. possible decides, before
// a symbol is demangled, whether the function is of interest: demangling takes long. visit must not
// call methods of the Binary.
func (b *Binary) EachFunc(possible func(symbol string) bool, visit func(f Func, exported bool) bool) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := "listing the functions of " + b.path
	if b.closed {
		return fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	t := b.symbolTable()
	for i, x := range t.all {
		if x.kind != elf.STT_FUNC || x.size == 0 || i+1 < len(t.all) && t.all[i+1].addr == x.addr {
			continue // the last name of an address is the best
		}
		s := t.name(x)
		if isPartial(s) || !possible(s) || b.isGo && goStandard(s, "") {
			continue
		}
		offset, ok := b.offset(x.addr)
		if !ok {
			continue
		}
		n := namesOf(s, b.isGo)
		if !visit(Func{Name: n.short, Symbol: s, FileOffset: offset, Size: x.size}, x.bind != elf.STB_LOCAL) {
			return nil
		}
	}
	if g := b.goTable(); g != nil && !b.hasSymbolTable() {
		g.Functions(func(f pclntab.Func) bool {
			offset, ok := b.offset(f.Entry)
			if !ok || !possible(f.Name) || goStandard(f.Name, "") {
				return true
			}
			return visit(Func{Name: goName(f.Name), Symbol: f.Name, FileOffset: offset, Size: f.End - f.Entry}, false)
		})
	}
	return nil
}
