package hotspot

import (
	"errors"
	"strings"
)

// ErrNoMethod is returned where there is no method with such a bytecode.
var ErrNoMethod = errors.New("there is no such method in the Java VM")

// Method reads the method at an address, which has to have a bytecode at another one: a frame that is only being made,
// or is none, may have led here.
func (l *Layout) Method(at, bytecode uint64) (*Method, error) {
	r := reader{layout: l}
	constant := r.pointer(at + l.constMethod)
	m := &Method{Start: constant + l.constMethodSize, Size: r.number(constant+l.codeSize, 2)}
	if r.err != nil || constant == 0 || bytecode < m.Start || bytecode-m.Start >= m.Size {
		return nil, errors.Join(ErrNoMethod, r.err)
	}
	pool := r.pointer(constant + l.constants)
	holder := r.pointer(pool + l.poolHolder)
	m.Class = r.symbol(r.pointer(holder + l.klassName))
	m.Name = r.constant(pool, r.number(constant+l.name, 2))
	m.Signature = r.constant(pool, r.number(constant+l.signature, 2))
	from := holder
	if l.sourceInPool {
		from = pool
	}
	m.File = r.constant(pool, r.number(from+l.sourceFile, 2))
	hasLines := r.number(constant+l.flags, 2)&1 != 0
	if r.err != nil || m.Class == "" || m.Name == "" {
		return nil, errors.Join(ErrNoMethod, r.err)
	}
	if hasLines {
		m.Lines = l.lines(m.Start + m.Size)
	}
	return m, nil
}

// reader reads until the first error.
type reader struct {
	layout *Layout
	err    error
}

func (r *reader) number(at uint64, size int) uint64 {
	if r.err != nil {
		return 0
	}
	n, err := r.layout.number(at, size)
	r.err = err
	return n
}

func (r *reader) pointer(at uint64) uint64 { return r.number(at, 8) }

// constant is a text of a pool of constants; "" for number 0.
func (r *reader) constant(pool, number uint64) string {
	if number == 0 {
		return ""
	}
	return r.symbol(r.pointer(pool + r.layout.poolSize + 8*number))
}

// symbol is a text of the VM; "": there is none.
func (r *reader) symbol(at uint64) string {
	n := r.number(at+r.layout.symbolLength, 2)
	if r.err != nil || n == 0 {
		return ""
	}
	text := make([]byte, min(n, longestName))
	r.err = r.layout.memory(at+r.layout.symbolBody, text)
	return strings.ToValidUTF8(string(text), "?")
}

// lines reads a packed table of lines, as far as it makes sense.
func (l *Layout) lines(at uint64) []Line {
	p := packed{withoutZero: l.withoutZero}
	for len(p.bytes) < mostLines && !p.complete() {
		// Not into the next page, which may not be there.
		piece := make([]byte, 256-at%256)
		if l.memory(at, piece) != nil {
			break
		}
		p.bytes = append(p.bytes, piece...)
		at += uint64(len(piece))
	}
	return p.lines()
}

// packed is a table of lines in the VM's packed form: pairs of differences, in a byte if they are small.
type packed struct {
	bytes       []byte
	withoutZero bool
	at          int
	short       bool
}

const (
	packedEnd  = 0
	packedLong = 0xff // two numbers with signs follow
)

// complete tells whether the table's end is there.
func (p *packed) complete() bool {
	p.lines()
	return !p.short
}

func (p *packed) lines() (lines []Line) {
	p.at, p.short = 0, false
	bytecode, line := 0, 0
	for {
		switch b := p.byte(); {
		case p.short || b == packedEnd:
			return lines
		case b == packedLong:
			bytecode += p.signed()
			line += p.signed()
		default:
			bytecode += int(b >> 3)
			line += int(b & 7)
		}
		if p.short || bytecode < 0 || bytecode > 0xffff || line < 0 || line > 0xffff {
			return lines
		}
		lines = append(lines, Line{bytecode, line})
	}
}

func (p *packed) byte() byte {
	if p.at >= len(p.bytes) {
		p.short = true
		return 0
	}
	p.at++
	return p.bytes[p.at-1]
}

// signed reads a number of one to five bytes: those from 192 on have a next one, which counts 64 times as much.
func (p *packed) signed() int {
	const more, shift, longest = 192, 6, 5
	sum, one := uint32(0), uint32(0)
	if p.withoutZero {
		one = 1
	}
	for i := range longest {
		b := uint32(p.byte())
		if p.short || b < one {
			p.short = true
			return 0
		}
		sum += (b - one) << (shift * i)
		if b < more {
			break
		}
	}
	return int(int32(sum>>1) ^ -int32(sum&1))
}
