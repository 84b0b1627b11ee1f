package pclntab

// pcdataInlineIndex is the number of the function's table program counter → node, from Go 1.14 on.
const pcdataInlineIndex = 2

// funcdataInlineTree returns the number of the function's inline tree. It changed when Go 1.16 removed another
// kind of table.
func (t *Table) funcdataInlineTree() uint32 {
	if t.version == go12 {
		return 4 // Go 1.14 and 1.15
	}
	return 3
}

// inlined is the inline tree of one function.
type inlined struct {
	index uint32 // offset in steps: program counter → node
	nodes []byte // up to the end of the segment, because their number is not known
}

// tree returns the inline tree of a function, false if nothing was inlined.
func (t *Table) tree(f *function) (inlined, bool) {
	kind := t.funcdataInlineTree()
	if !t.inlined || f.npcdata <= pcdataInlineIndex || f.nfuncdata <= kind || uint64(f.npcdata) > uint64(len(t.funcs)) {
		return inlined{}, false
	}
	index, ok := t.u32(t.funcs, f.pcdata+4*pcdataInlineIndex)
	if !ok || index == 0 {
		return inlined{}, false
	}
	addr, ok := t.funcdata(f, kind)
	if !ok {
		return inlined{}, false
	}
	nodes := t.mem.at(addr)
	return inlined{index, nodes}, len(nodes) > 0
}

// funcdata returns the address of the function's data of a kind.
func (t *Table) funcdata(f *function, kind uint32) (uint64, bool) {
	at := f.pcdata + 4*uint64(f.npcdata)
	if t.version >= go118 {
		off, ok := t.u32(t.funcs, at+4*uint64(kind))
		return t.gofunc + uint64(off), ok && off != ^uint32(0) && t.gofunc != 0
	}
	// These are aligned pointers; records are aligned, too.
	at = (at + t.ptr - 1) &^ (t.ptr - 1)
	addr, ok := t.word(t.funcs, at+t.ptr*uint64(kind))
	return addr, ok && addr != 0
}

// node returns the function of node i, and parent: the distance from the entry to an instruction on the line of
// the call.
func (t *Table) node(in inlined, i int32) (name string, parent uint32, ok bool) {
	size, nameAt, parentAt := uint64(16), uint64(4), uint64(8)
	if t.version < go120 {
		// parent, kind, file, line, name, parent's program counter
		size, nameAt, parentAt = 20, 12, 16
	}
	at := uint64(i) * size
	off, ok1 := t.u32(in.nodes, at+nameAt)
	parent, ok2 := t.u32(in.nodes, at+parentAt)
	if i < 0 || !ok1 || !ok2 {
		return "", 0, false
	}
	name = stringAt(t.names, uint64(off))
	return name, parent, name != ""
}
