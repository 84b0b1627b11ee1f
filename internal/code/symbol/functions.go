package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"whatif/internal/code/symbol/dwarf"
)

// Functions returns the functions with an entry point that a name means. The name is an ELF symbol,
// or a demangled name. It may lack parameters, their labels, template or type arguments, or Rust's
// hash. If no function has exactly the name, it may be a pattern with *.
//
// All instances are returned, by address, one for each address: static functions of the same name,
// instantiations, and the clones that compilers make with other parameters (.constprop, .isra) and
// call in place of the function. Other pieces are no entry points, and are returned only if the
// name is their symbol: cold halves (.cold), the rest of a function that was partly inlined
// (.part), the later parts of a coroutine, and resolvers (STT_GNU_IFUNC), which run once, in the
// dynamic linker.
func (b *Binary) Functions(match string) (funcs []Func, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for function %s in %s", match, b.path)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	m := MatchFunc(match)
	if funcs = b.functions(m, m.exactly); len(funcs) == 0 && strings.Contains(match, "*") {
		funcs = b.functions(m, m.pattern)
	}
	return funcs, nil
}

// Bounds of a search for functions. The largest programs have a million symbols, with names of 150 MB.
const (
	maxMatches = 1 << 14   // functions that are found
	maxNamed   = 512 << 20 // bytes of names that are compared
)

func (b *Binary) functions(m FuncMatcher, fits func(names) bool) []Func {
	t := b.symbolTable()
	isGo := b.IsGo()
	var funcs []Func
	left := maxNamed
	for i, x := range t.all {
		if !m.begins(t.stringsFrom(x)) {
			continue
		}
		s := t.name(x)
		if left -= len(s); left < 0 || len(funcs) > maxMatches {
			break
		}
		if s != m.text && (x.kind != elf.STT_FUNC || isPartial(s) || !m.possible(s)) {
			continue
		}
		n := namesOf(s, isGo)
		if !fits(n) {
			continue
		}
		offset, ok := b.offset(x.addr)
		if !ok {
			continue
		}
		f := Func{Name: n.full, Symbol: s, FileOffset: offset, Size: x.size, Resolver: x.kind == elf.STT_GNU_IFUNC}
		if i > 0 && len(funcs) > 0 && funcs[len(funcs)-1].FileOffset == offset {
			funcs[len(funcs)-1] = f // an alias; the better name comes last
			continue
		}
		funcs = append(funcs, f)
	}
	if more := b.goFunctions(m, fits); len(more) > 0 {
		funcs = append(funcs, more...)
		slices.SortStableFunc(funcs, func(x, y Func) int { return cmp.Compare(x.FileOffset, y.FileOffset) })
		funcs = slices.CompactFunc(funcs, func(x, y Func) bool { return x.FileOffset == y.FileOffset })
	}
	return funcs
}

// HasSymbol reports whether the binary has a function with this symbol. Unlike Functions it looks at no demangled name:
// to make those of a large library takes longer than reading its symbols.
func (b *Binary) HasSymbol(symbol string) (yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	var err error
	defer guard("looking for the symbol "+symbol, &err)()
	t := b.symbolTable()
	return slices.ContainsFunc(t.all, func(x sym) bool {
		return bytes.HasPrefix(t.stringsFrom(x), []byte(symbol)) && t.name(x) == symbol
	})
}

// Imports reports whether the binary calls a function of this name that another library defines. The
// binary itself then has only a linkage stub.
func (b *Binary) Imports(symbol string) (yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	var err error
	defer guard("reading imports", &err)()
	return b.symbolTable().imports[symbol]
}

// HasFunc reports whether the binary has a function: with an entry point, or inlined wherever it is
// called. To find an inlined function, HasFunc reads all debug information.
func (b *Binary) HasFunc(name string) (bool, error) {
	funcs, err := b.Functions(name)
	if err != nil || len(funcs) > 0 {
		return len(funcs) > 0, err
	}
	return b.inlinedFunc(name)
}

func (b *Binary) inlinedFunc(name string) (found bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("looking for inlined function %s in %s", name, b.path)
	if b.closed {
		return false, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	m, isGo := MatchFunc(name), b.IsGo()
	if t := b.goTable(); t != nil && !b.hasDebugInfo() {
		t.Inlined(func(name string) bool {
			n := namesOf(name, true)
			found = m.exactly(n) || m.pattern(n)
			return !found
		})
		return found, nil
	}
	b.debugData().Functions(func(c dwarf.Call) bool {
		symbol := c.Linkage
		if symbol == "" {
			symbol = b.nameWithin(c, isGo)
		}
		if !m.possible(symbol) {
			return true
		}
		n := namesOf(symbol, isGo)
		found = m.exactly(n) || m.pattern(n)
		return !found
	})
	return found, nil
}
