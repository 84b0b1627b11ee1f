package pclntab

// maxDepth bounds an inline chain. Compilers stop at some dozens.
const maxDepth = 200

// Lookup returns the code at an address, innermost first. The result is empty outside of Go's code, and in the
// padding between functions.
func (t *Table) Lookup(pc uint64) []Call {
	i, ok := t.find(pc)
	if !ok {
		return nil
	}
	work := lookupWork
	f, ok := t.function(i, &work)
	if !ok {
		return nil
	}
	file, line, ok := t.line(&f, pc)
	if !ok {
		return nil
	}
	var chain []Call
	in, inlines := t.tree(&f)
	for inlines && len(chain) < maxDepth {
		// Each node leads to an instruction on the line of its call, which may also be inlined.
		n, ok := t.value(&f, in.index, pc)
		if !ok || n < 0 {
			break
		}
		name, parent, ok := t.node(in, n)
		if !ok {
			break
		}
		pc = f.entry + uint64(parent)
		outer, at, ok := t.line(&f, pc)
		if !ok {
			break
		}
		chain = append(chain, Call{name, file, line})
		file, line = outer, at
	}
	return append(chain, Call{t.funcName(&f), file, line})
}

func (t *Table) funcName(f *function) string { return stringAt(t.names, f.name) }
