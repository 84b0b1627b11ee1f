package symbol

import (
	"debug/elf"
	"fmt"

	"whatif/internal/symbol/pclntab"
)

// EachFunc shows the binary's functions that have a name and an entry until visit returns false, ascending by
// address. possible is asked about a symbol before it is demangled, which is what takes time. What the
// language brought along is left out. visit must not ask the binary for more.
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
			continue // of several names of one address the last is best
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
