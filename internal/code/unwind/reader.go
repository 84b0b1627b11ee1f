package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errTruncated = errors.New("truncated")

// reader reads a part of a section from front to back. After the first error, which stays in err,
// all reads return zero.
type reader struct {
	data    []byte
	address uint64 // of data[0]
	err     error
}

func (b *reader) fail(err error) {
	if b.err == nil {
		b.err = err
	}
	b.data = nil
}

// take returns the next n bytes, nil if there are fewer.
func (b *reader) take(n uint64) []byte {
	if n > uint64(len(b.data)) {
		b.fail(errTruncated)
		return nil
	}
	d := b.data[:n]
	b.data = b.data[n:]
	b.address += n
	return d
}

// sub returns a reader for the next n bytes.
func (b *reader) sub(n uint64) reader {
	at := b.address
	d := b.take(n)
	return reader{data: d, address: at, err: b.err}
}

// number reads a little-endian number of n bytes: 1, 2, 4 or 8.
func (b *reader) number(n uint64) uint64 {
	var eight [8]byte
	copy(eight[:], b.take(n))
	return binary.LittleEndian.Uint64(eight[:])
}

// signed is number, with the sign extended.
func (b *reader) signed(n uint64) uint64 {
	shift := 64 - 8*n
	return uint64(int64(b.number(n)<<shift) >> shift)
}

func (b *reader) byte() byte { return byte(b.number(1)) }

func (b *reader) uleb() uint64 {
	v, _ := b.leb()
	return v
}

func (b *reader) sleb() int64 {
	v, shift := b.leb()
	if shift < 64 {
		return int64(v<<(64-shift)) >> (64 - shift)
	}
	return int64(v)
}

// leb reads a LEB128 number and returns its length in bits. Bits beyond 64 are dropped.
func (b *reader) leb() (v uint64, bits uint) {
	for {
		c := b.byte()
		if b.err != nil {
			return 0, 64
		}
		if bits < 64 {
			v |= uint64(c&0x7f) << bits
		}
		bits += 7
		if c&0x80 == 0 {
			return v, bits
		}
	}
}

// string reads up to a zero byte. The strings of these sections are short.
func (b *reader) string() string {
	const longest = 32
	for i, c := range b.data[:min(longest, len(b.data))] {
		if c == 0 {
			return string(b.take(uint64(i + 1))[:i])
		}
	}
	b.fail(errTruncated)
	return ""
}

// The encodings of pointers: a format, and a base.
const (
	encOmit     = 0xff
	encFormat   = 0x0f
	encRelative = 0x70
	encIndirect = 0x80

	relPC   = 0x10
	relData = 0x30
)

// plain reads a number in an encoding's format, relative to nothing.
func (b *reader) plain(encoding byte) uint64 {
	switch encoding & encFormat {
	case 0x00, 0x04, 0x0c:
		return b.number(8)
	case 0x01:
		return b.uleb()
	case 0x02:
		return b.number(2)
	case 0x03:
		return b.number(4)
	case 0x09:
		return uint64(b.sleb())
	case 0x0a:
		return b.signed(2)
	case 0x0b:
		return b.signed(4)
	}
	b.fail(fmt.Errorf("pointer encoding %#x", encoding))
	return 0
}

// pointer reads an encoded address. data is the base of addresses with the encoding relData.
func (b *reader) pointer(encoding byte, data uint64) uint64 {
	at := b.address
	switch {
	case encoding&encIndirect != 0:
		// The program's memory has the address, so it is unknown here.
	case encoding&encRelative == 0:
		return b.plain(encoding)
	case encoding&encRelative == relPC:
		return at + b.plain(encoding)
	case encoding&encRelative == relData && data != 0:
		return data + b.plain(encoding)
	}
	b.fail(fmt.Errorf("pointer encoding %#x", encoding))
	return 0
}
