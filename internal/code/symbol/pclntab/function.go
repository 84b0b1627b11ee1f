package pclntab

import "sort"

// function is one record of the table.
type function struct {
	entry, end uint64
	record     uint64 // offset in funcs
	name       uint64 // offset in names
	pcfile     uint32 // offsets in steps; 0: there is none
	pcln       uint32
	npcdata    uint32
	nfuncdata  uint32
	unit       uint32 // index in units of the compile unit's files
	pcdata     uint64 // offset in funcs of the first

	work *int // steps that the call may still take
}

// lookupWork bounds the steps of tables that one look-up may read: a hundred times what the longest function
// needs.
const lookupWork = 1 << 22

// searchWork bounds the steps that a search may read by the size of the tables: in a damaged binary every function
// can claim all of them.
func (t *Table) searchWork() int {
	return lookupWork + 16*(len(t.steps)+int(t.nfunc))
}

// entryAt returns the address at which function i begins. entryAt(nfunc) is the end of the last function.
func (t *Table) entryAt(i uint64) uint64 {
	off := t.functab() + i*t.entrySize()
	if t.version >= go118 {
		n, _ := t.u32(t.funcs, off)
		return t.text + uint64(n)
	}
	n, _ := t.word(t.funcs, off)
	return n
}

// find returns the number of the function that contains an address.
func (t *Table) find(pc uint64) (uint64, bool) {
	n := int(t.nfunc)
	if pc < t.entryAt(0) || pc >= t.entryAt(t.nfunc) {
		return 0, false
	}
	after := sort.Search(n, func(i int) bool { return t.entryAt(uint64(i)) > pc })
	return uint64(after - 1), after > 0
}

// function reads record i.
func (t *Table) function(i uint64, work *int) (function, bool) {
	f := function{entry: t.entryAt(i), end: t.entryAt(i + 1), work: work}
	var ok bool
	off := t.functab() + i*t.entrySize()
	if t.version >= go118 {
		var r uint32
		r, ok = t.u32(t.funcs, off+4)
		f.record = uint64(r)
	} else {
		f.record, ok = t.word(t.funcs, off+t.ptr)
	}
	if !ok || f.end < f.entry {
		return f, false
	}
	// The record has the entry, then 32-bit numbers: name, size of arguments, deferreturn, pcsp, pcfile,
	// pcln, npcdata, from 1.16 on the unit, from 1.20 on the function's first line. Then come four bytes,
	// the last of which is nfuncdata.
	at := f.record + t.ptr
	if t.version >= go118 {
		at = f.record + 4
	}
	fields := [10]uint32{}
	n := 7 + min(int(t.version), 1)
	if t.version >= go120 {
		n++
	}
	n++ // the bytes
	for j := range n {
		var ok bool
		if fields[j], ok = t.u32(t.funcs, at+4*uint64(j)); !ok {
			return f, false
		}
	}
	f.name, f.pcfile, f.pcln, f.npcdata = uint64(fields[0]), fields[4], fields[5], fields[6]
	if t.version > go12 {
		f.unit = fields[7]
	}
	f.nfuncdata = fields[n-1] >> 24
	f.pcdata = at + 4*uint64(n)
	return f, true
}

// value returns the value of a table of steps for a program counter, false if there is none. table is the offset
// in steps.
func (t *Table) value(f *function, table uint32, pc uint64) (int32, bool) {
	var found bool
	var v int32
	t.walk(f, table, func(low, high uint64, value int32) bool {
		if pc < high {
			found, v = pc >= low, value
			return false
		}
		return true
	})
	return v, found
}

// walk calls visit for the ranges of a table of steps until visit returns false. A step is two varints: the
// change of the value (zigzag), and the distance to the range's end. A change of 0 ends the table, except
// in the first step.
func (t *Table) walk(f *function, table uint32, visit func(low, high uint64, value int32) bool) {
	if table == 0 || uint64(table) >= uint64(len(t.steps)) {
		return
	}
	p := t.steps[table:]
	pc, value := f.entry, int32(-1)
	for first := true; *f.work > 0; first = false {
		*f.work--
		change, n := varint(p)
		if n == 0 || change == 0 && !first {
			return
		}
		p = p[n:]
		length, n := varint(p)
		if n == 0 {
			return
		}
		p = p[n:]
		value += int32(-(change & 1) ^ (change >> 1))
		next := pc + uint64(length)*t.minLC
		if !visit(pc, next, value) {
			return
		}
		// The table is damaged if it goes on beyond the function.
		if pc = next; pc >= f.end {
			return
		}
	}
}

// varint reads a number and returns its length in bytes, 0 if there is none.
func varint(p []byte) (v uint32, n int) {
	for n < len(p) && n < 5 {
		b := p[n]
		v |= uint32(b&0x7f) << (7 * n)
		n++
		if b&0x80 == 0 {
			return v, n
		}
	}
	return 0, 0
}

// file returns the path of a file of the function's compile unit, "" if there is none.
func (t *Table) file(f *function, number int32) string {
	if number < 0 {
		return ""
	}
	if t.version == go12 {
		off, ok := t.u32(t.units, 4*uint64(number))
		if !ok {
			return ""
		}
		return stringAt(t.files, uint64(off))
	}
	off, ok := t.u32(t.units, 4*(uint64(f.unit)+uint64(number)))
	if !ok || off == ^uint32(0) {
		return ""
	}
	return stringAt(t.files, uint64(off))
}

// line returns the file and line of an instruction of the function; ok is false for the padding behind it.
func (t *Table) line(f *function, pc uint64) (file string, line int, ok bool) {
	number, ok := t.value(f, f.pcfile, pc)
	if !ok {
		return "", 0, false
	}
	n, ok := t.value(f, f.pcln, pc)
	if !ok || n < 0 {
		return "", 0, false
	}
	return t.file(f, number), int(n), true
}
