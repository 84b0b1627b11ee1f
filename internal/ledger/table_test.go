package ledger

import (
	"errors"
	"reflect"
	"testing"

	"whatif/bpf"
	"whatif/internal/code/unwind"
)

// The numbers in a rule mean the same on both sides.
func TestRuleNumbers(t *testing.T) {
	for _, pair := range []struct {
		name       string
		goes, come uint32
	}{
		{"unknown", uint32(unwind.Unknown), uint32(bpf.LedgerRuleKindRULE_UNKNOWN)},
		{"end", uint32(unwind.End), uint32(bpf.LedgerRuleKindRULE_END)},
		{"CFA", uint32(unwind.CFA), uint32(bpf.LedgerRuleKindRULE_CFA)},
		{"CFA at", uint32(unwind.CFAAt), uint32(bpf.LedgerRuleKindRULE_CFA_AT)},
		{"signal", uint32(unwind.Signal), uint32(bpf.LedgerRuleKindRULE_SIGNAL)},
		{"frame pointer", uint32(unwind.FramePointer), uint32(bpf.LedgerRuleKindRULE_FRAME_POINTER)},
		{"interpreter", uint32(unwind.Interpreter), uint32(bpf.LedgerRuleKindRULE_INTERPRETER)},
		{"no base", uint32(unwind.NoBase), uint32(bpf.LedgerRuleBaseBASE_NONE)},
		{"stack pointer", uint32(unwind.SP), uint32(bpf.LedgerRuleBaseBASE_SP)},
		{"frame pointer as base", uint32(unwind.FP), uint32(bpf.LedgerRuleBaseBASE_FP)},
		{"rbx", uint32(unwind.BX), uint32(bpf.LedgerRuleBaseBASE_BX)},
		{"another", uint32(unwind.Other), uint32(bpf.LedgerRuleBaseBASE_OTHER)},
		{"same", uint32(unwind.Same), uint32(bpf.LedgerRuleWhereWHERE_SAME)},
		{"at the CFA", uint32(unwind.AtCFA), uint32(bpf.LedgerRuleWhereWHERE_CFA)},
		{"at the frame pointer", uint32(unwind.AtFP), uint32(bpf.LedgerRuleWhereWHERE_FP)},
		{"at the stack pointer", uint32(unwind.AtSP), uint32(bpf.LedgerRuleWhereWHERE_SP)},
		{"gone", uint32(unwind.Gone), uint32(bpf.LedgerRuleWhereWHERE_GONE)},
	} {
		if pair.goes != pair.come {
			t.Errorf("%s is %d in Go, %d in the kernel", pair.name, pair.goes, pair.come)
		}
	}
}

func emptyTables() *TableRows {
	return NewTableRows(
		new([bpf.LedgerLimitMAX_RULES]bpf.LedgerRule), new([bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow),
	)
}

var first = unwind.Rule{Kind: unwind.CFA, Base: unwind.SP, Offset: 8, RA: -8}
var second = unwind.Rule{
	Kind: unwind.CFAAt, Base: unwind.FP, Offset: -8, Add: 3, RA: -8,
	FP: unwind.Saved{Where: unwind.AtFP, Offset: 5}, BX: unwind.Saved{Where: unwind.AtCFA, Offset: -24},
}

// Rows are one behind the other, and equal rules are one.
func TestPut(t *testing.T) {
	s := emptyTables()
	a, err := s.Put([]Row{{0, first}, {10, second}, {20, first}})
	if err != nil || a != (bpf.LedgerTable{First: reserved, Rows: 3}) {
		t.Fatalf("%+v, %v", a, err)
	}
	b, err := s.Put([]Row{{0, second}})
	if err != nil || b != (bpf.LedgerTable{First: reserved + 3, Rows: 1}) {
		t.Fatalf("%+v, %v", b, err)
	}
	n := uint16(reserved)
	got, rows := s.rows[a.First:b.First+1], []bpf.LedgerRow{
		{Offset: 0, Rule: n}, {Offset: 10, Rule: n + 1}, {Offset: 20, Rule: n}, {Offset: 0, Rule: n + 1},
	}
	if !reflect.DeepEqual(got, rows) {
		t.Errorf("rows %+v, want %+v", got, rows)
	}
	want := bpf.LedgerRule{
		Kind: uint8(bpf.LedgerRuleKindRULE_CFA_AT), Base: uint8(bpf.LedgerRuleBaseBASE_FP), Offset: -8, Add: 3, Ra: -8,
		FpWhere: uint8(bpf.LedgerRuleWhereWHERE_FP), Fp: 5, BxWhere: uint8(bpf.LedgerRuleWhereWHERE_CFA), Bx: -24,
	}
	if s.rules[n+1] != want {
		t.Errorf("rule %+v, want %+v", s.rules[n+1], want)
	}
}

// Rows that very many whole pages have take no memory.
func TestPutReserved(t *testing.T) {
	s := emptyTables()
	for rule, want := range map[unwind.Rule]uint32{
		{}: rulesUnknown, {Kind: unwind.FramePointer}: rulesFramePointer,
	} {
		got, err := s.Put([]Row{{0, rule}})
		if err != nil || got != (bpf.LedgerTable{First: want, Rows: 1}) {
			t.Errorf("%+v: %+v, %v", rule, got, err)
		}
		if row := s.rows[got.First]; kernelRule(rule) != s.rules[row.Rule] || row.Offset != 0 {
			t.Errorf("%+v: row %+v, rule %+v", rule, row, s.rules[row.Rule])
		}
	}
	if got, err := s.Put(nil); err != nil || got != (bpf.LedgerTable{First: rulesUnknown, Rows: 1}) {
		t.Errorf("no rows: %+v, %v", got, err)
	}
	if s.used != reserved {
		t.Errorf("%d rows used", s.used)
	}
}

// When the memory is full, stacks end there, and nothing is overwritten.
func TestPutFull(t *testing.T) {
	s := emptyTables()
	s.used = len(s.rows) - 1
	got, err := s.Put([]Row{{0, first}, {10, second}})
	if !errors.Is(err, ErrTablesFull) || got != (bpf.LedgerTable{First: rulesUnknown, Rows: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Put([]Row{{0, first}}); err != nil || s.used != len(s.rows) {
		t.Errorf("the last row: %v, %d used", err, s.used)
	}

	s = emptyTables()
	for i := len(s.numbers); i < len(s.rules); i++ {
		rule := unwind.Rule{Kind: unwind.CFA, Base: unwind.SP, Offset: int32(8 * i), RA: -8}
		if _, err := s.Put([]Row{{0, rule}}); err != nil {
			t.Fatalf("rule %d: %v", i, err)
		}
	}
	got, err = s.Put([]Row{{0, unwind.Rule{Kind: unwind.CFA, Base: unwind.FP}}})
	if !errors.Is(err, ErrTablesFull) || s.rows[got.First].Rule != rulesUnknown {
		t.Errorf("one rule too many: %+v, %v", s.rows[got.First], err)
	}
}
