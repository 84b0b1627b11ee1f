package unwind

import (
	"errors"
	"fmt"
	"math"
)

// section is .eh_frame or .debug_frame. Each of its entries is a CIE, which several functions
// share, or an FDE, which describes one function.
type section struct {
	data    []byte
	address uint64
	debug   bool // .debug_frame
	cies    map[uint64]*cie
}

// cie is a common information entry.
type cie struct {
	codeAlign uint64
	dataAlign int64
	ra        uint64 // register
	encoding  byte   // of addresses in FDEs
	augmented bool   // FDEs have augmentation data
	signal    bool   // signal handlers return to its functions
	start     reader // instructions
}

// fde is a frame description entry: one function.
type fde struct {
	cie        *cie
	begin, end uint64
	program    reader
}

var (
	errNotFDE = errors.New("not a function's entry")
	errNotCIE = errors.New("not a common entry")
)

// entry is the common beginning of CIEs and FDEs.
type entry struct {
	body  reader // after the id
	id    uint64 // of an FDE: offset of its CIE
	isCIE bool
	next  uint64 // offset of the next entry
}

// entry reads the entry at an offset. An entry of length 0, with an empty body, ends the section.
func (s *section) entry(offset uint64) (e entry, err error) {
	if offset >= uint64(len(s.data)) {
		return e, errTruncated
	}
	b := reader{data: s.data[offset:], address: s.address + offset}
	length, wide := b.number(4), false
	if length == 0xffffffff {
		length, wide = b.number(8), true
	}
	body := b.sub(length)
	if body.err != nil {
		return e, body.err
	}
	e.next = b.address - s.address
	if length == 0 {
		return e, nil
	}
	at := body.address - s.address
	switch {
	case !s.debug: // ids have four bytes even if the length has eight
		e.id = body.number(4)
		e.isCIE = e.id == 0
		e.id = at - e.id
	case wide:
		e.id = body.number(8)
		e.isCIE = e.id == math.MaxUint64
	default:
		e.id = body.number(4)
		e.isCIE = e.id == math.MaxUint32
	}
	e.body = body
	return e, body.err
}

// maxCIEs bounds the CIEs that are kept of a damaged file. An ordinary file has one for each
// compilation, with equal ones merged.
const maxCIEs = 1 << 16

// cie returns the CIE at an offset, which it reads once.
func (s *section) cie(offset uint64) (*cie, error) {
	if c, known := s.cies[offset]; known {
		return c, nil
	}
	c, err := s.readCIE(offset)
	if err != nil {
		return nil, fmt.Errorf("reading the common entry at %#x: %w", offset, err)
	}
	if s.cies == nil || len(s.cies) >= maxCIEs {
		s.cies = map[uint64]*cie{}
	}
	s.cies[offset] = c
	return c, nil
}

func (s *section) readCIE(offset uint64) (*cie, error) {
	e, err := s.entry(offset)
	if err != nil {
		return nil, err
	}
	if !e.isCIE {
		return nil, errNotCIE
	}
	b, c := e.body, &cie{}
	version := b.byte()
	augmentation := b.string()
	if version >= 4 && s.debug {
		if size, segment := b.byte(), b.byte(); size != 8 || segment != 0 {
			return nil, fmt.Errorf("addresses of %d bytes, segments of %d", size, segment)
		}
	}
	if augmentation == "eh" { // an old compiler's
		b.number(8)
	}
	c.codeAlign, c.dataAlign = b.uleb(), b.sleb()
	if version == 1 {
		c.ra = uint64(b.byte())
	} else {
		c.ra = b.uleb()
	}
	if err := s.augment(c, augmentation, &b); err != nil {
		return nil, err
	}
	c.start = b
	if b.err == nil && version != 1 && version != 3 && version != 4 {
		return nil, fmt.Errorf("version %d", version)
	}
	return c, b.err
}

func (s *section) augment(c *cie, augmentation string, b *reader) error {
	if augmentation == "" || augmentation == "eh" {
		return nil
	}
	if augmentation[0] != 'z' {
		return fmt.Errorf("augmentation %q", augmentation)
	}
	c.augmented = true
	data := b.sub(b.uleb())
	for _, letter := range augmentation[1:] {
		switch letter {
		case 'R':
			c.encoding = data.byte()
		case 'P':
			data.plain(data.byte()) // the exception routine's address, which is not needed
		case 'L':
			data.byte()
		case 'S':
			c.signal = true
		case 'B', 'G': // how return addresses are signed: the kernel side removes signatures
		default:
			// The rest cannot be understood, but its length is known.
			return data.err
		}
	}
	return data.err
}

// fde reads the FDE at an offset.
func (s *section) fde(offset uint64) (f fde, err error) {
	e, err := s.entry(offset)
	if err != nil {
		return f, err
	}
	if e.isCIE || len(e.body.data) == 0 {
		return f, errNotFDE
	}
	if f.cie, err = s.cie(e.id); err != nil {
		return f, err
	}
	b := e.body
	f.begin = b.pointer(f.cie.encoding, 0)
	f.end = f.begin + b.plain(f.cie.encoding&encFormat)
	if f.cie.augmented {
		b.take(b.uleb())
	}
	f.program = b
	if b.err == nil && f.end < f.begin {
		return f, errors.New("it ends before it begins")
	}
	return f, b.err
}
