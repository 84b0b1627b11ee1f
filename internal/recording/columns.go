package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A table is written by columns: a column's numbers resemble each other, so they compress well. Each column has an id,
// a coding, the length of its data, and the data; an id of 0 ends the table. A column of zeros is not written. One that
// is not known is skipped: a later version may add some, if the rest can be understood without them.
type column struct {
	id     uint64
	coding coding
	get    func(row int) int64
	set    func(row int, n int64) bool // false: the number is too large for its field
}

// coding is how the numbers of a column become bytes. All are varints, zigzag.
type coding uint64

const (
	constant coding = iota // one number for all rows
	plain
	delta // to the row before
	codings
)

type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint64
}

// field is a column of a field.
func field[N number](id uint64, coding coding, at func(row int) *N) column {
	return column{id, coding,
		func(row int) int64 { return int64(*at(row)) },
		func(row int, n int64) bool {
			*at(row) = N(n)
			return int64(N(n)) == n
		}}
}

func yesNo(id uint64, at func(row int) *bool) column {
	return column{id, plain,
		func(row int) int64 {
			if *at(row) {
				return 1
			}
			return 0
		},
		func(row int, n int64) bool {
			*at(row) = n == 1
			return n == 0 || n == 1
		}}
}

// names are the strings of a recording, each once. Number 0 is the empty one.
type names struct {
	list  []string
	index map[string]int64
}

func newNames() names { return names{list: []string{""}, index: map[string]int64{"": 0}} }

func (n *names) number(s string) int64 {
	i, ok := n.index[s]
	if !ok {
		i = int64(len(n.list))
		n.index[s] = i
		n.list = append(n.list, s)
	}
	return i
}

func (n *names) column(id uint64, at func(row int) *string) column {
	return column{id, plain,
		func(row int) int64 { return n.number(*at(row)) },
		func(row int, number int64) bool {
			if number < 0 || number >= int64(len(n.list)) {
				return false
			}
			*at(row) = n.list[number]
			return true
		}}
}

// appendTable appends the columns of a table.
func appendTable(b []byte, rows int, columns []column) []byte {
	for _, c := range columns {
		if rows == 0 {
			break
		}
		first, how := c.get(0), constant
		for i := 1; i < rows; i++ {
			if c.get(i) != first {
				how = c.coding
				break
			}
		}
		if how == constant && first == 0 {
			continue
		}
		b = binary.AppendUvarint(b, c.id)
		b = binary.AppendUvarint(b, uint64(how))
		b = appendSized(b, func(b []byte) []byte { return appendColumn(b, rows, how, c) })
	}
	return binary.AppendUvarint(b, 0)
}

func appendColumn(b []byte, rows int, how coding, c column) []byte {
	if how == constant {
		return binary.AppendVarint(b, c.get(0))
	}
	last := int64(0)
	for i := range rows {
		n := c.get(i)
		b = binary.AppendVarint(b, n-last)
		if how == delta {
			last = n
		}
	}
	return b
}

// appendSized appends what f appends, with its length before it. The length takes eight bytes, so that nothing moves.
func appendSized(b []byte, f func(b []byte) []byte) []byte {
	at := len(b)
	b = f(binary.LittleEndian.AppendUint64(b, 0))
	binary.LittleEndian.PutUint64(b[at:], uint64(len(b)-at-8))
	return b
}

// source reads what the functions above have written. The first error stays, and everything is 0 after it.
type source struct {
	in     *bufio.Reader
	at     uint64 // bytes that were read
	budget uint64 // bytes of memory that the rest of the recording may take
	err    error
}

var (
	errDamaged = errors.New("it is damaged")
	errBudget  = errors.New("it claims more than its size allows")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

func (s *source) fail(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if s.err == nil {
		s.err = err
	}
}

// ReadByte is for package binary.
func (s *source) ReadByte() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		s.at++
	}
	return c, err
}

func (s *source) unsigned() uint64 {
	if s.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(s)
	if err != nil {
		s.fail(err)
		return 0
	}
	return n
}

func (s *source) signed() int64 {
	n := s.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

// bytes reads so many bytes, which must have been charged.
func (s *source) bytes(n int) []byte {
	if s.err != nil {
		return nil
	}
	b := make([]byte, n)
	k, err := io.ReadFull(s.in, b)
	s.at += uint64(k)
	if err != nil {
		s.fail(err)
	}
	return b
}

// size reads a length.
func (s *source) size() uint64 {
	var n uint64
	if b := s.bytes(8); s.err == nil {
		n = binary.LittleEndian.Uint64(b)
	}
	return n
}

// charge takes the memory of n things off the budget, and returns n; or 0 if the budget has not so much.
func (s *source) charge(n, each uint64) int {
	if s.err == nil && n > s.budget/each {
		s.fail(errBudget)
	}
	if s.err != nil {
		return 0
	}
	s.budget -= n * each
	return int(n)
}

// skip skips what is not known. It counts as memory, as zeros compress to nothing.
func (s *source) skip(n uint64) {
	n = uint64(s.charge(n, 1))
	k, err := io.CopyN(io.Discard, s.in, int64(n))
	s.at += uint64(k)
	if err != nil {
		s.fail(err)
	}
}

// sized calls f, which reads what was appended with its length.
func (s *source) sized(f func()) {
	n := s.size()
	begin := s.at
	f()
	if s.err == nil && s.at-begin != n {
		s.fail(damaged("%d bytes where %d were announced", s.at-begin, n))
	}
}

// table reads the columns of a table with so many rows. Columns come by id, so that none is read twice.
func (s *source) table(rows int, columns []column) {
	last := uint64(0)
	for {
		id := s.unsigned()
		if s.err != nil || id == 0 {
			return
		}
		how := coding(s.unsigned())
		if id <= last || rows == 0 {
			s.fail(damaged("column %d after %d, of %d rows", id, last, rows))
			return
		}
		last = id
		for len(columns) > 0 && columns[0].id < id {
			columns = columns[1:]
		}
		if len(columns) == 0 || columns[0].id != id {
			s.skip(s.size())
			continue
		}
		s.sized(func() { s.column(rows, how, columns[0]) })
	}
}

func (s *source) column(rows int, how coding, c column) {
	if how >= codings {
		s.fail(damaged("coding %d", how))
		return
	}
	last := int64(0)
	for i := 0; i < rows && s.err == nil; i++ {
		n := last
		if how != constant || i == 0 {
			n += s.signed()
		}
		if !c.set(i, n) {
			s.fail(damaged("column %d has %d", c.id, n))
		}
		if how != plain {
			last = n
		}
	}
}
