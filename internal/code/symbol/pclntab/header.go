package pclntab

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errNone is the error for data that is no table.
var errNone = errors.New("no function table of Go")

// maxFuncs bounds the number of functions. The largest programs seen have a few hundred thousand.
const maxFuncs = 1 << 22

// isHeader reports whether data may begin with a table. The check is specific enough for a search.
func isHeader(data []byte) bool {
	if len(data) < 16 {
		return false
	}
	_, known := versions[binary.LittleEndian.Uint32(data)]
	minLC, ptr := data[6], data[7]
	return known && data[4] == 0 && data[5] == 0 && (minLC == 1 || minLC == 2 || minLC == 4) && (ptr == 4 || ptr == 8)
}

// parse reads the header of the table at the begin of data. data may be longer than the table.
func parse(data []byte) (*Table, error) {
	if !isHeader(data) {
		return nil, errNone
	}
	t := &Table{
		version: versions[binary.LittleEndian.Uint32(data)],
		minLC:   uint64(data[6]), ptr: uint64(data[7]),
	}
	var ok bool
	if t.nfunc, ok = t.word(data, 8); !ok || t.nfunc == 0 || t.nfunc > maxFuncs {
		return nil, fmt.Errorf("a function table of %d functions", t.nfunc)
	}
	if t.version == go12 {
		// All offsets are from the start of the table; functab follows the header.
		t.names, t.files, t.steps, t.funcs = data, data, data, data
		return t, t.oldFiles(data)
	}
	// The header has the number of functions and of files, from 1.18 on the address of the code, then the
	// offset of each table.
	first := 8 + 2*t.ptr
	if t.version >= go118 {
		t.text, _ = t.word(data, first)
		first += t.ptr
	}
	for i, part := range []*[]byte{&t.names, &t.units, &t.files, &t.steps, &t.funcs} {
		off, ok := t.word(data, first+uint64(i)*t.ptr)
		if !ok || off >= uint64(len(data)) {
			return nil, fmt.Errorf("part %d of the function table lies outside of it", i)
		}
		*part = data[off:]
	}
	if end := t.functab() + t.nfunc*t.entrySize() + 4; end > uint64(len(t.funcs)) {
		return nil, fmt.Errorf("%d functions do not fit into their table", t.nfunc)
	}
	return t, nil
}

// oldFiles finds the list of files before Go 1.16: its offset follows the end of the last function.
func (t *Table) oldFiles(data []byte) error {
	off, ok := t.u32(data, t.functab()+t.nfunc*t.entrySize()+t.ptr)
	if !ok || uint64(off) >= uint64(len(data)) {
		return fmt.Errorf("%d functions do not fit into their table", t.nfunc)
	}
	t.units = data[off:]
	return nil
}

// functab returns the offset in funcs of the pairs of program counter and record.
func (t *Table) functab() uint64 {
	if t.version == go12 {
		return 8 + t.ptr
	}
	return 0
}

// entrySize returns the size of such a pair.
func (t *Table) entrySize() uint64 {
	if t.version >= go118 {
		return 8
	}
	return 2 * t.ptr
}
