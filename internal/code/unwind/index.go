package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
)

// index lists a section's functions, sorted by address.
type index interface {
	len() int
	// at returns the address at which function i begins, and the offset of its FDE.
	at(i int) (begin, offset uint64)
}

// lastBefore returns the last function that begins at or before an address, 0 if there is none.
func lastBefore(x index, address uint64) int {
	i := sort.Search(x.len(), func(i int) bool {
		begin, _ := x.at(i)
		return begin > address
	})
	return max(0, i-1)
}

// searchTable is the search table of .eh_frame_hdr, used in place: pairs of the addresses of a
// function and of its FDE, four bytes each, relative to .eh_frame_hdr.
type searchTable struct {
	pairs     []byte
	address   uint64 // of .eh_frame_hdr
	ehAddress uint64 // of .eh_frame
}

func (t *searchTable) len() int { return len(t.pairs) / 8 }

func (t *searchTable) at(i int) (begin, offset uint64) {
	pair := t.pairs[8*i:]
	begin = t.address + uint64(int32(binary.LittleEndian.Uint32(pair)))
	offset = t.address + uint64(int32(binary.LittleEndian.Uint32(pair[4:]))) - t.ehAddress
	return begin, offset
}

// readHeader reads .eh_frame_hdr: the address of .eh_frame, and the search table. The table is nil
// if it is missing or has a form that no linker writes.
func readHeader(data []byte, address uint64) (eh uint64, t *searchTable, err error) {
	b := reader{data: data, address: address}
	if version := b.byte(); b.err == nil && version != 1 {
		return 0, nil, fmt.Errorf("reading .eh_frame_hdr: version %d", version)
	}
	ehEncoding, countEncoding, tableEncoding := b.byte(), b.byte(), b.byte()
	if ehEncoding == encOmit {
		return 0, nil, errors.New("reading .eh_frame_hdr: it does not say where .eh_frame is")
	}
	eh = b.pointer(ehEncoding, address)
	if b.err != nil {
		return 0, nil, fmt.Errorf("reading .eh_frame_hdr: %w", b.err)
	}
	const relative4 = relData | 0x0b
	if countEncoding == encOmit || tableEncoding != relative4 {
		return eh, nil, nil
	}
	count := b.pointer(countEncoding, address)
	if b.err != nil || count == 0 || count > uint64(len(b.data))/8 {
		return eh, nil, nil
	}
	return eh, &searchTable{pairs: b.data[:8*count], address: address, ehAddress: eh}, nil
}

// list is an index that was made by reading all entries.
type list []listed

type listed struct{ begin, offset uint64 }

func (l list) len() int                        { return len(l) }
func (l list) at(i int) (begin, offset uint64) { return l[i].begin, l[i].offset }

// maxFunctions bounds a list. The largest programs seen (browsers) have half as many functions,
// and a search table.
const maxFunctions = 1 << 20

// maxEntries bounds the entries that are read for a list, including CIEs and empty entries. A hole in a
// sparse file is a row of empty entries.
const maxEntries = 4 * maxFunctions

// list reads all entries of a section. It leaves out entries that make no sense, and stops at an
// entry without a usable length.
func (s *section) list() (list, error) {
	var l list
	for n, offset := 0, uint64(0); n < maxEntries && offset < uint64(len(s.data)); n++ {
		e, err := s.entry(offset)
		if err != nil {
			break
		}
		if !e.isCIE && len(e.body.data) > 0 {
			if f, err := s.fde(offset); err == nil && f.begin < f.end {
				l = append(l, listed{f.begin, offset})
			}
		}
		if len(l) > maxFunctions {
			return nil, fmt.Errorf("reading the unwind tables: more than %d functions, and no search table", maxFunctions)
		}
		offset = e.next
	}
	slices.SortStableFunc(l, func(a, b listed) int {
		switch {
		case a.begin < b.begin:
			return -1
		case a.begin > b.begin:
			return 1
		}
		return 0
	})
	return l, nil
}
