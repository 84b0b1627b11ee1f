package ledger

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/code/unwind"
)

// TableBytes is the part of a file that one table of rows describes. A table's place is at a multiple of it.
const TableBytes = uint64(bpf.LedgerLimitTABLE_BYTES)

// Row says how to find the caller of the code from an offset in its page on.
type Row struct {
	Offset uint16
	Rule   unwind.Rule
}

// The rules that always exist, RULES_UNKNOWN and RULES_FRAME_POINTER, and the rows that have them for a whole page. A
// rule and its row have the same index.
const (
	rulesUnknown = iota
	rulesFramePointer
	reserved
)

// ErrTablesFull is returned when the kernel side's memory for rows is used up.
var ErrTablesFull = errors.New("the kernel side's memory for unwind tables is full")

// TableRows hands out the memory that the rows of all files share. None is given back: a file that was sampled once is
// sampled again.
type TableRows struct {
	mu      sync.Mutex
	rules   *[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule
	rows    *[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow
	numbers map[unwind.Rule]uint16 // of the rules
	alone   map[unwind.Rule]uint32 // rows that are a table, by their rule
	used    int                    // of rows
}

// NewTableRows uses memory that is shared with programs of the kernel, and zero so far.
func NewTableRows(
	rules *[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule, rows *[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow,
) *TableRows {
	t := &TableRows{
		rules: rules, rows: rows, numbers: make(map[unwind.Rule]uint16), alone: make(map[unwind.Rule]uint32), used: reserved,
	}
	for i, r := range []unwind.Rule{rulesUnknown: {}, rulesFramePointer: {Kind: unwind.FramePointer}} {
		t.numbers[r], t.alone[r] = uint16(i), uint32(i)
		t.rules[i] = kernelRule(r)
		t.rows[i] = bpf.LedgerRow{Rule: uint16(i)}
	}
	return t
}

// Put writes rows, and returns where they are. The kernel side reads them once it has the table.
func (t *TableRows) Put(rows []Row) (bpf.LedgerTable, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	isAlone := len(rows) == 1 && rows[0].Offset == 0
	if isAlone {
		if first, known := t.alone[rows[0].Rule]; known {
			return bpf.LedgerTable{First: first, Rows: 1}, nil
		}
	}
	unknown := bpf.LedgerTable{First: rulesUnknown, Rows: 1}
	if len(rows) == 0 {
		return unknown, nil
	}
	if t.used+len(rows) > len(t.rows) {
		return unknown, ErrTablesFull
	}
	table := bpf.LedgerTable{First: uint32(t.used), Rows: uint16(len(rows))}
	var err error
	for _, r := range rows {
		n, known := t.numbers[r.Rule]
		if !known && len(t.numbers) < len(t.rules) {
			n = uint16(len(t.numbers))
			t.numbers[r.Rule] = n
			t.rules[n] = kernelRule(r.Rule)
		} else if !known {
			n, err = rulesUnknown, ErrTablesFull
		}
		t.rows[t.used] = bpf.LedgerRow{Offset: r.Offset, Rule: n}
		t.used++
	}
	if isAlone && err == nil {
		t.alone[rows[0].Rule] = table.First
	}
	return table, err
}

// kernelRule is a rule as the kernel side has it. Kinds, bases and places have the same numbers on both sides.
func kernelRule(r unwind.Rule) bpf.LedgerRule {
	return bpf.LedgerRule{
		Kind: uint8(r.Kind), Base: uint8(r.Base), Offset: r.Offset, Add: r.Add, Ra: r.RA,
		FpWhere: uint8(r.FP.Where), Fp: r.FP.Offset,
		BxWhere: uint8(r.BX.Where), Bx: r.BX.Offset,
	}
}

// SetTable gives the kernel side the rows of a page, in the order of their offsets, of which the first is 0. If they do
// not fit (ErrTablesFull), stacks end in that page. With unitless, no code of the page can be a unit: a sample there
// need not wait for SetPlace.
func (k *knownCode) SetTable(page Place, rows []Row, unitless bool) error {
	t, full := k.rows.Put(rows)
	if unitless {
		t.Unitless = 1
	}
	if err := k.tables.Put(page, t); err != nil {
		return fmt.Errorf("giving the kernel a table of %d rows: %w", len(rows), err)
	}
	return full
}

// SetRule says how the caller is found at a place in generated code. Without it, it is by the frame pointer.
func (k *knownCode) SetRule(p Place, r unwind.Rule) error {
	return k.SetTable(p, []Row{{Rule: r}}, false)
}

// ForgetTable makes the kernel side ask about a page again, because there is no answer now.
func (k *knownCode) ForgetTable(page Place) error {
	if err := k.tables.Delete(page); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a table: %w", err)
	}
	return nil
}

// TableUse is how much of the memory for unwind tables is used, and how much there is.
type TableUse struct {
	Rows, MaxRows int
	Bytes         int // of all the memory, used or not
}

// TableUse returns the current use.
func (k *knownCode) TableUse() TableUse {
	t := k.rows
	t.mu.Lock()
	defer t.mu.Unlock()
	return TableUse{
		Rows: t.used, MaxRows: len(t.rows),
		Bytes: int(unsafe.Sizeof(*t.rows) + unsafe.Sizeof(*t.rules)),
	}
}
