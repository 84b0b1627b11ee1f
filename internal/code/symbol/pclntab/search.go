package pclntab

import "slices"

// Functions calls visit for every function with an entry point, ascending by address, until visit returns false.
func (t *Table) Functions(visit func(Func) bool) {
	work := 0
	for i := range t.nfunc {
		f, ok := t.function(i, &work)
		if ok && !visit(Func{t.funcName(&f), f.entry, f.end}) {
			return
		}
	}
}

// Around returns the function that contains an address.
func (t *Table) Around(pc uint64) (Func, bool) {
	i, ok := t.find(pc)
	if !ok {
		return Func{}, false
	}
	work := 0
	f, ok := t.function(i, &work)
	return Func{t.funcName(&f), f.entry, f.end}, ok
}

// Inlined calls visit with the name of every function that was inlined, until visit returns false. A name may come
// several times.
func (t *Table) Inlined(visit func(name string) bool) {
	more, work := true, t.searchWork()
	for i := uint64(0); more && i < t.nfunc; i++ {
		f, ok := t.function(i, &work)
		if !ok {
			continue
		}
		in, ok := t.tree(&f)
		if !ok {
			continue
		}
		seen := map[int32]bool{}
		t.walk(&f, in.index, func(_, _ uint64, n int32) bool {
			// A call may have no code of its own, because all was inlined from further in. It still has
			// instructions for tracebacks.
			if n < 0 || seen[n] {
				return true
			}
			seen[n] = true
			if name, _, ok := t.node(in, n); ok {
				more = visit(name)
			}
			return more
		})
	}
}

// Files calls visit with the path of every source file with code, until visit returns false. A path may come
// several times.
func (t *Table) Files(visit func(path string) bool) {
	type key struct {
		unit   uint32
		number int32
	}
	seen := map[key]bool{}
	more, work := true, t.searchWork()
	for i := uint64(0); more && i < t.nfunc; i++ {
		f, ok := t.function(i, &work)
		if !ok {
			continue
		}
		t.walk(&f, f.pcfile, func(_, _ uint64, number int32) bool {
			k := key{f.unit, number}
			if seen[k] {
				return true
			}
			seen[k] = true
			if path := t.file(&f, number); path != "" {
				more = visit(path)
			}
			return more
		})
	}
}

// Lines returns the lines with code of the files that match, ascending.
func (t *Table) Lines(match func(path string) bool) []int {
	matching := map[string]bool{} // a cache: each compile unit has numbers of its own for the same files
	matches := func(path string) bool {
		m, known := matching[path]
		if !known {
			m = match(path)
			matching[path] = m
		}
		return m
	}
	type span struct{ low, high uint64 }
	var spans []span // of one function's code
	have := map[int]bool{}
	work := t.searchWork()
	for i := range t.nfunc {
		f, ok := t.function(i, &work)
		if !ok {
			continue
		}
		spans = spans[:0]
		t.walk(&f, f.pcfile, func(low, high uint64, number int32) bool {
			if matches(t.file(&f, number)) {
				spans = append(spans, span{low, high})
			}
			return true
		})
		if len(spans) == 0 {
			continue
		}
		rest := spans
		t.walk(&f, f.pcln, func(low, high uint64, line int32) bool {
			for len(rest) > 0 && rest[0].high <= low {
				rest = rest[1:]
			}
			if line > 0 && len(rest) > 0 && rest[0].low < high {
				have[int(line)] = true
			}
			return len(rest) > 0
		})
	}
	lines := make([]int, 0, len(have))
	for l := range have {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	return lines
}
