package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// dump reads the records of a jitdump. Its format is in the Linux source, in tools/perf/Documentation: a header, and
// records of these kinds, each with its size and the moment it was written.
type dump struct {
	order  binary.ByteOrder // nil: the header was not read yet
	closed bool
	skip   int // bytes of a record that need not be read
	// The lines of code come before the code itself.
	debug []byte
}

const (
	recordLoad = iota
	recordMove
	recordDebugInfo
	recordClose
	recordUnwindingInfo
)

const (
	dumpMagic   = 0x4a695444
	headerBytes = 40
	prefixBytes = 16
	loadBytes   = 40 // of a LOAD record, before the name
	moveBytes   = 48
	// longestDebug bounds the lines of one function, in bytes; those of a longer record are left out.
	longestDebug = 1 << 20
	// longestHeader bounds the header, to which later versions may add.
	longestHeader = 1 << 16
)

func (d *dump) restart() { *d = dump{} }

func (d *dump) take(t *Table, text []byte) (used, needs int, err error) {
	if d.order == nil {
		if used, needs, err = d.header(text); err != nil || used == 0 {
			return used, needs, err
		}
	}
	for used < len(text) {
		if d.skip > 0 || d.closed {
			n := len(text) - used
			if !d.closed {
				n = min(n, d.skip)
			}
			used, d.skip = used+n, d.skip-n
			continue
		}
		n, more, err := d.record(t, text[used:])
		if err != nil {
			return used, 0, err
		}
		if n == 0 {
			return used, more, nil
		}
		used += n
	}
	return used, prefixBytes, nil
}

func (d *dump) header(text []byte) (used, needs int, err error) {
	if len(text) < headerBytes {
		return 0, headerBytes, nil
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint32(text) != dumpMagic {
			continue
		}
		size := int(order.Uint32(text[8:]))
		if size < headerBytes || size > longestHeader {
			break
		}
		d.order, d.skip = order, size-headerBytes
		return headerBytes, 0, nil
	}
	return 0, 0, fmt.Errorf("reading a jitdump: %w", errFormat)
}

// record reads one record. It uses nothing if more bytes are needed. The code behind a name is skipped.
func (d *dump) record(t *Table, text []byte) (used, needs int, err error) {
	if len(text) < prefixBytes {
		return 0, prefixBytes, nil
	}
	kind, size := d.order.Uint32(text), int(d.order.Uint32(text[4:]))
	if size < prefixBytes {
		return 0, 0, fmt.Errorf("reading a jitdump's record of %d bytes: %w", size, errFormat)
	}
	needs = size
	switch {
	case kind == recordLoad:
		needs = min(size, prefixBytes+loadBytes+longestName+1)
	case kind == recordMove:
		needs = min(size, prefixBytes+moveBytes)
	case kind == recordDebugInfo && size <= longestDebug:
	default:
		needs = prefixBytes
	}
	if len(text) < needs {
		return 0, needs, nil
	}
	body := text[prefixBytes:needs]
	switch kind {
	case recordLoad:
		d.load(t, body)
		d.debug = nil
	case recordMove:
		d.move(t, body)
	case recordDebugInfo:
		d.debug = slices.Clone(body)
	case recordClose:
		d.closed = true
	}
	d.skip = size - needs
	return needs, 0, nil
}

func (d *dump) load(t *Table, body []byte) {
	if len(body) < loadBytes {
		return
	}
	start, size := d.order.Uint64(body[16:]), d.order.Uint64(body[24:])
	name, _, _ := bytes.Cut(body[loadBytes:], []byte{0})
	if !plausible(start, size) || len(name) == 0 {
		return
	}
	b := &Body{Function: Clean(string(name[:min(len(name), longestName)]))}
	d.addLines(b, start, size)
	t.add(start, size, b)
}

func (d *dump) move(t *Table, body []byte) {
	if len(body) < moveBytes {
		return
	}
	from, to, size := d.order.Uint64(body[16:]), d.order.Uint64(body[24:]), d.order.Uint64(body[32:])
	if plausible(from, size) && plausible(to, size) {
		t.move(from, to, size)
	}
}

const (
	debugBytes      = 16 // of a DEBUG_INFO record, before its entries
	debugEntryBytes = 16 // of an entry, before its name
	// v8Shift is what V8 adds to the addresses of lines: the size of an ELF header, for perf inject.
	v8Shift = 0x40
	// mostLine bounds the number of a line.
	mostLine = 1 << 24
)

// addLines gives code its lines, by the DEBUG_INFO record before its own. The record is about other code if its address
// is another one.
func (d *dump) addLines(b *Body, start, size uint64) {
	if len(d.debug) < debugBytes || d.order.Uint64(d.debug) != start || b.NoLines {
		return
	}
	shift := uint64(0)
	if b.V8 {
		shift = v8Shift
	}
	entries := d.debug[debugBytes:]
	file := ""
	low := start + shift
	for n := d.order.Uint64(d.debug[8:]); n > 0 && len(entries) > debugEntryBytes; n-- {
		address, number := d.order.Uint64(entries), int(d.order.Uint32(entries[8:]))
		name, rest, ok := d.name(b, entries[debugEntryBytes:], low, start+shift+size, n == 1)
		if !ok {
			break
		}
		entries = rest
		if address-start-shift >= size || number <= 0 || number > mostLine {
			continue
		}
		low = max(low, address)
		// A name of the one byte 255 is the name of the entry before.
		if name != "\xff" && !b.V8 {
			file = name
		}
		if !b.V8 && b.File == "" {
			b.File = file
		}
		// A body has one file. Code that was inlined from another one belongs to the line before.
		if b.V8 && !d.sameFile(b, name) || !b.V8 && file != b.File {
			continue
		}
		b.lines = append(b.lines, line{offset: address - start - shift, line: int32(number)})
	}
	slices.SortStableFunc(b.lines, func(x, y line) int {
		if x.offset < y.offset {
			return -1
		}
		return int(min(1, x.offset-y.offset))
	})
}

// name cuts an entry's name off. The names that V8 writes may be memory that was freed, of the right length but with
// zeros in it. So the name of V8's code ends where an entry begins that makes sense; the last one is as long as the
// function's own.
func (d *dump) name(b *Body, text []byte, low, high uint64, last bool) (name string, rest []byte, ok bool) {
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return "", nil, false
	}
	if !b.V8 {
		return string(text[:end]), text[end+1:], true
	}
	if last {
		return string(text[:min(len(text), len(b.rawFile))]), nil, true
	}
	for ; end < len(text) && end <= longestName; end++ {
		next := text[end+1:]
		if text[end] != 0 || len(next) < debugEntryBytes {
			continue
		}
		if at := d.order.Uint64(next); at >= low && at < high && d.order.Uint32(next[8:]) < mostLine {
			return string(text[:end]), next, true
		}
	}
	return "", nil, false
}

// sameFile reports whether a file's name that V8 has written, damaged or not, can be that of the function's own file.
func (d *dump) sameFile(b *Body, name string) bool { return len(name) == len(b.rawFile) }
