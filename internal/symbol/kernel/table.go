package kernel

import (
	"sort"

	"whatif/internal/symbol"
)

// Table is the kernel's functions.
type Table struct {
	all     []entry // ascending by address, the best name of each last
	names   []byte
	modules []string
}

type entry struct {
	addr   uint64
	name   uint32 // offset in names
	length uint16
	module uint16
	kind   byte
}

// Symbol is a function of the running kernel.
type Symbol struct {
	Name   string // as kallsyms has it
	Module string // empty for the kernel's own
	Addr   uint64
	Size   uint64 // up to the next one: kallsyms does not say
}

// longestTail bounds a function that no other of its module follows.
const longestTail = 64 << 10

// marks are symbols that say where code ends, or what comes after it begins.
var marks = map[string]bool{
	"_etext": true, "_einittext": true, "__init_end": true, "__irqentry_text_end": true, "__softirqentry_text_end": true,
	"__sched_text_end": true, "__lock_text_end": true, "__kprobes_text_end": true, "__noinstr_text_end": true,
	"__cpuidle_text_end": true, "__entry_text_end": true, "__static_call_text_end": true, "__exittext_end": true,
}

// Find gives the function that an address is in.
func (t *Table) Find(addr uint64) (Symbol, bool) {
	i := sort.Search(len(t.all), func(i int) bool { return t.all[i].addr > addr }) - 1
	if i < 0 {
		return Symbol{}, false
	}
	s := t.at(i)
	if addr-s.Addr >= s.Size || marks[s.Name] {
		return Symbol{}, false
	}
	return s, true
}

// at is symbol i with its size.
func (t *Table) at(i int) Symbol {
	e := t.all[i]
	s := Symbol{Name: t.name(e), Module: t.modules[e.module], Addr: e.addr, Size: longestTail}
	for j := i + 1; j < len(t.all); j++ {
		if next := t.all[j]; next.addr > e.addr {
			if next.module == e.module || next.addr-e.addr < longestTail {
				s.Size = next.addr - e.addr
			}
			break
		}
	}
	return s
}

func (t *Table) name(e entry) string { return string(t.names[e.name:][:e.length]) }

// Address is where a symbol is; the first of several.
func (t *Table) Address(name string) (uint64, bool) {
	for _, e := range t.all {
		if int(e.length) == len(name) && string(t.names[e.name:][:e.length]) == name {
			return e.addr, true
		}
	}
	return 0, false
}

// Functions finds the functions that a name or a pattern means, by address.
func (t *Table) Functions(match string) []Symbol {
	m := symbol.MatchFunc(match)
	var found []Symbol
	for i, e := range t.all {
		name := t.name(e)
		if marks[name] || name != match && !m.Frame(symbol.Named(name)) {
			continue
		}
		s := t.at(i)
		if n := len(found); n > 0 && found[n-1].Addr == s.Addr {
			found[n-1] = s // the better name comes last
			continue
		}
		found = append(found, s)
	}
	return found
}

// starts are the addresses, ascending, from each of which to the next all code is one symbol's, or none's.
func (t *Table) starts() []uint64 {
	var all []uint64
	for i, e := range t.all {
		if i+1 < len(t.all) && t.all[i+1].addr == e.addr {
			continue
		}
		all = append(all, e.addr)
		end := e.addr + t.at(i).Size
		if i+1 == len(t.all) || end < t.all[i+1].addr {
			all = append(all, end)
		}
	}
	return all
}
