package symbol

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// Functions finds the functions with an entry point that a name means: an ELF
// symbol; a demangled name, with or without parameters or their labels, template or type
// arguments or Rust's hash; if none is exactly that, a pattern with *.
//
// All instances are given, in the order of their addresses, one for each
// address: static functions of the same name, instantiations, and the clones
// that compilers make with other parameters (.constprop, .isra), which are
// called in place of the function. What is no entry point is left out, unless
// named exactly: cold halves (.cold), the rest of functions that were inlined
// in part (.part), where functions go on that have waited or lent a variable, and resolvers (STT_GNU_IFUNC), which run once, in the
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

func (b *Binary) functions(m FuncMatcher, fits func(names) bool) []Func {
	t := b.symbolTable()
	isGo := b.IsGo()
	var funcs []Func
	for i, x := range t.all {
		s := t.name(x)
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
			funcs[len(funcs)-1] = f // an alias: the better name comes last
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

// Imports reports whether the binary calls a function of this name that
// another library defines, so that only a linkage stub of it is here.
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

// HasFunc reports whether a function exists in the binary: with an entry
// point, or inlined wherever it was called. To find the latter it reads all
// debug information.
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
	b.debugData().Functions(func(name, linkage string) bool {
		if linkage == "" {
			linkage = name
		}
		if !m.possible(linkage) {
			return true
		}
		n := namesOf(linkage, isGo)
		found = m.exactly(n) || m.pattern(n)
		return !found
	})
	return found, nil
}
