package ledger

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/unwind"
)

// TableBytes is how much of a file one table of rows is for; a table's place is at a
// multiple of it.
const TableBytes = uint64(bpf.LedgerLimitTABLE_BYTES)

// Row says how to find the caller of the code from an offset in its page on.
type Row struct {
	Offset uint16
	Rule   unwind.Rule
}

// The rules that are always there, RULES_UNKNOWN and RULES_FRAME_POINTER, and the rows
// that have them for a whole page. All are at the same place.
const (
	rulesUnknown = iota
	rulesFramePointer
	reserved
)

// ErrTablesFull says that the memory for rows in the kernel is used up.
var ErrTablesFull = errors.New("the kernel side's memory for unwind tables is full")

// tables hands out the memory that the rows of all files share. Nothing is given
// back: a file once sampled is sampled again.
type tables struct {
	mu    sync.Mutex
	rules *[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule
	rows  *[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow
	known map[unwind.Rule]uint16
	used  int // of rows
}

func newTables(p *page) *tables {
	t := &tables{rules: p.rules, rows: p.rows, known: make(map[unwind.Rule]uint16), used: reserved}
	for i, r := range []unwind.Rule{rulesUnknown: {}, rulesFramePointer: {Kind: unwind.FramePointer}} {
		t.known[r] = uint16(i)
		t.rules[i] = kernelRule(r)
		t.rows[i] = bpf.LedgerRow{Rule: uint16(i)}
	}
	return t
}

// put writes rows and says where they are. The kernel side reads them once it is told.
func (t *tables) put(rows []Row) (bpf.LedgerTable, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(rows) == 1 && rows[0].Offset == 0 {
		if n, known := t.known[rows[0].Rule]; known && n < reserved {
			return bpf.LedgerTable{First: uint32(n), Rows: 1}, nil
		}
	}
	unknown := bpf.LedgerTable{First: rulesUnknown, Rows: 1}
	if len(rows) == 0 {
		return unknown, nil
	}
	if t.used+len(rows) > len(t.rows) {
		return unknown, ErrTablesFull
	}
	place := bpf.LedgerTable{First: uint32(t.used), Rows: uint16(len(rows))}
	var err error
	for _, r := range rows {
		n, known := t.known[r.Rule]
		if !known && len(t.known) < len(t.rules) {
			n = uint16(len(t.known))
			t.known[r.Rule] = n
			t.rules[n] = kernelRule(r.Rule)
		} else if !known {
			n, err = rulesUnknown, ErrTablesFull
		}
		t.rows[t.used] = bpf.LedgerRow{Offset: r.Offset, Rule: n}
		t.used++
	}
	return place, err
}

// kernelRule is a rule as the kernel side has it. The numbers of kinds, bases and
// places are the same on both sides.
func kernelRule(r unwind.Rule) bpf.LedgerRule {
	return bpf.LedgerRule{
		Kind: uint8(r.Kind), Base: uint8(r.Base), Offset: r.Offset, Add: r.Add, Ra: r.RA,
		FpWhere: uint8(r.FP.Where), Fp: r.FP.Offset,
		BxWhere: uint8(r.BX.Where), Bx: r.BX.Offset,
	}
}

// SetTable gives the kernel the rows of a page, in the order of their offsets, the
// first at 0. Where they do not fit (ErrTablesFull) stacks end in that page. unitless
// says that nothing there can be a unit: a sample there need not wait for SetPlace.
func (l *Ledger) SetTable(page Place, rows []Row, unitless bool) error {
	t, full := l.tables.put(rows)
	if unitless {
		t.Unitless = 1
	}
	if err := l.maps.Tables.Put(page, t); err != nil {
		return fmt.Errorf("giving the kernel a table of %d rows: %w", len(rows), err)
	}
	return full
}

// ForgetTable lets the kernel ask again, because nothing could be said now.
func (l *Ledger) ForgetTable(page Place) error {
	if err := l.maps.Tables.Delete(page); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a table: %w", err)
	}
	return nil
}

// TableUse is how much of the memory for unwind tables is used, and how much there is.
type TableUse struct {
	Rows, MaxRows   int
	Rules, MaxRules int
	Bytes           int // of all of it, used or not
}

// TableUse reads it.
func (l *Ledger) TableUse() TableUse {
	t := l.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	return TableUse{
		Rows: t.used, MaxRows: len(t.rows), Rules: len(t.known), MaxRules: len(t.rules),
		Bytes: int(unsafe.Sizeof(*t.rows) + unsafe.Sizeof(*t.rules)),
	}
}
