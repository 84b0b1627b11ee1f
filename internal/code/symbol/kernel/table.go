package kernel

import (
	"sort"

	"whatif/internal/code/symbol"
)

// Table has the kernel's functions.
type Table struct {
	all     []entry // ascending by address; the best name of an address comes last
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
	Name   string // as in kallsyms
	Module string // empty for the kernel's own code
	Addr   uint64
	Size   uint64 // up to the next function, because kallsyms has no sizes
}

// longestTail bounds the last function of a module.
const longestTail = 64 << 10

// marks are symbols at the end of code, which are no functions.
var marks = map[string]bool{
	"_etext": true, "_einittext": true, "__init_end": true, "__irqentry_text_end": true,
	"__softirqentry_text_end": true, "__sched_text_end": true, "__lock_text_end": true,
	"__kprobes_text_end": true, "__noinstr_text_end": true, "__cpuidle_text_end": true,
	"__entry_text_end": true, "__static_call_text_end": true, "__exittext_end": true,
}

// Find returns the function that contains an address.
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

// at returns symbol i with its size.
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

// Address returns the address of a symbol; of several, the first.
func (t *Table) Address(name string) (uint64, bool) {
	for _, e := range t.all {
		if int(e.length) == len(name) && string(t.names[e.name:][:e.length]) == name {
			return e.addr, true
		}
	}
	return 0, false
}

// Functions returns the functions that a name or a pattern means, by address.
func (t *Table) Functions(match string) []Symbol {
	m := symbol.MatchFunc(match)
	var found []Symbol
	for i, e := range t.all {
		name := t.name(e)
		if marks[name] || name != match && !m.Frame(symbol.FrameOfSymbol(name)) {
			continue
		}
		s := t.at(i)
		if n := len(found); n > 0 && found[n-1].Addr == s.Addr {
			found[n-1] = s // an alias; the better name comes last
			continue
		}
		found = append(found, s)
	}
	return found
}

// starts returns addresses, ascending, such that all code from one to the next belongs to one symbol, or to none.
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
