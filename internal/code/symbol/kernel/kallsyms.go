package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of the symbols. A distribution's kernel has 200,000 symbols in 13 MB; a third of them is code.
const (
	maxBytes   = 256 << 20
	maxSymbols = 4 << 20
	maxLine    = 4096 // a name has up to 512 bytes
)

// Parse reads the text of /proc/kallsyms: lines of address, type, name and, after a tab, the module in
// brackets. It keeps only code.
func Parse(r io.Reader) (*Table, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxBytes), 64<<10)
	t := &Table{modules: []string{""}}
	modules := map[string]uint16{"": 0}
	hiddenOnes := 0
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("a line of more than %d bytes: these are no kernel symbols", in.Size())
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		last := err != nil
		if s, ok := parseLine(line); ok {
			switch {
			case s.addr == 0:
				hiddenOnes++
			case len(t.all) >= maxSymbols || len(t.names)+len(s.name) > maxBytes:
				return nil, fmt.Errorf("more than %d symbols", len(t.all))
			default:
				t.add(s, modules)
			}
		}
		if last {
			break
		}
	}
	if len(t.all) == 0 && hiddenOnes > 0 {
		return nil, hidden()
	}
	if len(t.all) == 0 {
		return nil, errors.New("there are none: is the kernel built with CONFIG_KALLSYMS?")
	}
	t.sort()
	return t, nil
}

type parsed struct {
	addr   uint64
	kind   byte
	name   []byte
	module []byte
}

// parseLine reads a symbol of code; ok is false for other symbols.
func parseLine(line []byte) (s parsed, ok bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) > maxLine {
		return s, false
	}
	digits := 0
	for digits < len(line) && digits < 16 {
		d, isDigit := hexDigit(line[digits])
		if !isDigit {
			break
		}
		s.addr = s.addr<<4 | uint64(d)
		digits++
	}
	rest := line[digits:]
	if digits == 0 || len(rest) < 4 || rest[0] != ' ' || rest[2] != ' ' {
		return s, false
	}
	s.kind = rest[1]
	switch s.kind {
	case 't', 'T', 'w', 'W': // weak data would be 'v' and 'V'
	default:
		return s, false
	}
	s.name, s.module, _ = bytes.Cut(rest[3:], []byte{'\t'})
	s.module = bytes.Trim(s.module, "[]")
	// Padding before functions that can be patched has a symbol of its own.
	if len(s.name) == 0 || bytes.HasPrefix(s.name, []byte("__pfx_")) {
		return s, false
	}
	return s, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// add keeps a symbol.
func (t *Table) add(s parsed, modules map[string]uint16) {
	m, known := modules[string(s.module)]
	if !known {
		if len(t.modules) > 1<<15 {
			return // no kernel has so many modules
		}
		m = uint16(len(t.modules))
		t.modules = append(t.modules, string(s.module))
		modules[string(s.module)] = m
	}
	t.all = append(t.all, entry{
		addr: s.addr, name: uint32(len(t.names)), length: uint16(len(s.name)), module: m, kind: s.kind,
	})
	t.names = append(t.names, s.name...)
}

// sort sorts symbols by address. The best name of an address comes last.
func (t *Table) sort() {
	slices.SortFunc(t.all, func(a, b entry) int {
		switch {
		case a.addr < b.addr:
			return -1
		case a.addr > b.addr:
			return 1
		}
		return t.compareNames(a, b)
	})
}

// compareNames orders the names of an address; the best comes last. Global symbols are better than local ones,
// which are better than weak ones; then fewer leading underscores are better, then shorter names.
func (t *Table) compareNames(a, b entry) int {
	if x, y := rank(a.kind), rank(b.kind); x != y {
		return x - y
	}
	x, y := t.name(a), t.name(b)
	if m, n := underscores(x), underscores(y); m != n {
		return n - m
	}
	if len(x) != len(y) {
		return len(y) - len(x)
	}
	return strings.Compare(y, x)
}

func rank(kind byte) int {
	switch kind {
	case 'T':
		return 2
	case 't':
		return 1
	}
	return 0
}

func underscores(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
