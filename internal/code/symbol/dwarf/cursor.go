package dwarf

import (
	"bytes"
	"encoding/binary"
)

// cursor reads forward through a section. A read past the end sets bad and returns zero. Every loop over
// a cursor must end when it is bad.
type cursor struct {
	data []byte // the section up to the end of reading
	off  uint64
	bad  bool
}

// at returns a cursor on data from off up to end.
func at(data []byte, off, end uint64) cursor {
	if end > uint64(len(data)) {
		end = uint64(len(data))
	}
	return cursor{data: data[:end], off: off, bad: off > end}
}

func (c *cursor) left() uint64 {
	if c.bad {
		return 0
	}
	return uint64(len(c.data)) - c.off
}

func (c *cursor) more() bool { return !c.bad && c.off < uint64(len(c.data)) }

// take returns the next n bytes, nil if there are fewer.
func (c *cursor) take(n uint64) []byte {
	if n > c.left() {
		c.bad = true
		return nil
	}
	s := c.data[c.off : c.off+n]
	c.off += n
	return s
}

func (c *cursor) skip(n uint64) {
	if n > c.left() {
		c.bad = true
		return
	}
	c.off += n
}

func (c *cursor) u8() uint8 {
	if c.bad || c.off >= uint64(len(c.data)) {
		c.bad = true
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

func (c *cursor) u16() uint16 {
	if s := c.take(2); s != nil {
		return binary.LittleEndian.Uint16(s)
	}
	return 0
}

func (c *cursor) u24() uint32 {
	if s := c.take(3); s != nil {
		return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if s := c.take(4); s != nil {
		return binary.LittleEndian.Uint32(s)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if s := c.take(8); s != nil {
		return binary.LittleEndian.Uint64(s)
	}
	return 0
}

// sized reads an unsigned integer of 1, 2, 4 or 8 bytes.
func (c *cursor) sized(n int) uint64 {
	switch n {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.bad = true
	return 0
}

// offset reads a section offset: of 8 bytes in 64-bit DWARF, else of 4.
func (c *cursor) offset(is64 bool) uint64 {
	if is64 {
		return c.u64()
	}
	return uint64(c.u32())
}

// length reads an initial length, which also says whether the unit is 64-bit DWARF.
func (c *cursor) length() (n uint64, is64 bool) {
	v := c.u32()
	if v == 0xffffffff {
		return c.u64(), true
	}
	if v >= 0xfffffff0 {
		c.bad = true
	}
	return uint64(v), false
}

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 || c.bad {
			return v
		}
	}
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 || c.bad {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// cstring reads a string that ends with a zero byte.
func (c *cursor) cstring() []byte {
	if c.bad {
		return nil
	}
	n := bytes.IndexByte(c.data[c.off:], 0)
	if n < 0 {
		c.bad = true
		return nil
	}
	s := c.data[c.off : c.off+uint64(n)]
	c.off += uint64(n) + 1
	return s
}

// stringAt returns the string at an offset of a string section, nil if there is none. It searches at most
// longestString bytes for the end; otherwise a string without an end would be searched each time.
func stringAt(section []byte, off uint64) []byte {
	if off >= uint64(len(section)) {
		return nil
	}
	s := section[off:]
	s = s[:min(len(s), longestString)]
	n := bytes.IndexByte(s, 0)
	switch {
	case n >= 0:
		return s[:n]
	case len(s) < longestString:
		return nil
	}
	return s
}

// maxName bounds a function's name. Names of C++ templates have a few thousand bytes.
const maxName = 1 << 16

// text copies a string out of its section, up to limit bytes.
func text(s []byte, limit int) string { return string(s[:min(len(s), limit)]) }
