package unwind

import (
	"debug/elf"
	"errors"
	"reflect"
	"testing"
)

// usual has the instructions of every compiler's CIE: CFA = rsp+8, the return address at CFA-8.
var usual = []byte{cfaDefCFA, 7, 8, cfaOffset | 16, 1}

var entryRule = Rule{Kind: CFA, Base: SP, Offset: 8, RA: -8}

// with returns a changed copy of entryRule.
func with(change func(r *Rule)) Rule {
	r := entryRule
	change(&r)
	return r
}

var handMade = []struct {
	name     string
	cie, fde []byte
	rows     []Row // from 0x1000 up to 0x2000
	err      error
}{
	{"frame pointer", usual,
		[]byte{
			cfaAdvanceLoc | 1, cfaDefCFAOffset, 16, cfaOffset | 6, 2,
			cfaAdvanceLoc | 3, cfaDefCFARegister, 6,
			cfaAdvanceLoc1, 0x80, cfaRememberState, cfaDefCFA, 7, 8, cfaRestore | 6,
			cfaAdvanceLoc2, 1, 0, cfaRestoreState,
			cfaAdvanceLoc4, 0, 1, 0, 0, cfaArgsSize, 16,
		},
		[]Row{
			{0x1000, entryRule},
			{0x1001, with(func(r *Rule) { r.Offset = 16; r.FP = Saved{AtCFA, -16} })},
			{0x1004, with(func(r *Rule) { r.Base = FP; r.Offset = 16; r.FP = Saved{AtCFA, -16} })},
			{0x1084, entryRule},
			{0x1085, with(func(r *Rule) { r.Base = FP; r.Offset = 16; r.FP = Saved{AtCFA, -16} })},
		}, nil},
	{"realigned by gcc", usual,
		[]byte{
			cfaAdvanceLoc | 5, cfaDefCFA, 10, 0, // lea 8(%rsp), %r10
			cfaAdvanceLoc | 8, cfaExpression, 6, 2, opBreg0 + 6, 0, // push %rbp; mov %rsp, %rbp
			cfaAdvanceLoc | 4, cfaDefCFAExpression, 3, opBreg0 + 6, 0x78, opDeref,
			cfaExpression, 3, 2, opBreg0 + 6, 0x70,
		},
		[]Row{
			{0x1000, entryRule},
			{0x1005, with(func(r *Rule) { r.Base = Other + 10; r.Offset = 0 })},
			{0x100d, with(func(r *Rule) { r.Base = Other + 10; r.Offset = 0; r.FP = Saved{AtFP, 0} })},
			{0x1011, Rule{Kind: CFAAt, Base: FP, Offset: -8, FP: Saved{AtFP, 0}, BX: Saved{AtFP, -16}, RA: -8}},
		}, nil},
	{"saved in hand-written assembly", usual,
		[]byte{
			cfaDefCFAExpression, 6, opBreg0 + 7, 0x98, 0x01, opDeref, opPlusUconst, 8,
			cfaNegativeOffset, 6, 0x7e, cfaValOffset, 3, 1,
		},
		[]Row{{0x1000, Rule{
			Kind: CFAAt, Base: SP, Offset: 152, Add: 8, FP: Saved{AtCFA, 126 * 8}, BX: Saved{Where: Gone}, RA: -8,
		}}}, nil},
	{"the outermost function", append(usual, cfaUndefined, 16), nil, []Row{{0x1000, Rule{Kind: End}}}, nil},
	{"no return address", usual[:3], nil, []Row{{0x1000, Rule{}}}, nil},
	{"a multiplication", usual, []byte{cfaDefCFAExpression, 5, opBreg0 + 7, 8, opLit0 + 8, 0x1e, opDeref},
		[]Row{{0x1000, Rule{}}}, nil},
	{"an expression of nothing", usual, []byte{cfaDefCFAExpression, 3, opPlus, opDup, opDrop},
		[]Row{{0x1000, Rule{}}}, nil},
	{"a far location", usual, []byte{cfaSetLoc, 0, 0x18, 0, 0, 0, 0, 0, 0, cfaDefCFAOffset, 16},
		[]Row{{0x1000, entryRule}, {0x1800, with(func(r *Rule) { r.Offset = 16 })}}, nil},
	{"back again", usual, []byte{cfaAdvanceLoc | 16, cfaSetLoc, 0, 0x10, 0, 0, 0, 0, 0, 0},
		[]Row{{0x1000, entryRule}, {0x1010, Rule{}}}, errBackwards},
	{"further than there is", usual, []byte{cfaAdvanceLoc8, 255, 255, 255, 255, 255, 255, 255, 255},
		[]Row{{0x1000, Rule{}}}, errBackwards},
	{"nothing to restore", usual, []byte{cfaAdvanceLoc | 2, cfaRestoreState},
		[]Row{{0x1000, entryRule}, {0x1002, Rule{}}}, errRemembered},
	{"cut short", usual, []byte{cfaAdvanceLoc | 2, cfaDefCFAExpression, 100, 1, 2},
		[]Row{{0x1000, entryRule}, {0x1002, Rule{}}}, errTruncated},
}

// tableOf makes a table of a section.
func tableOf(t *testing.T, machine elf.Machine, s *section) *Table {
	t.Helper()
	l, err := s.list()
	if err != nil {
		t.Fatal(err)
	}
	return &Table{arch: arches[machine], file: &elf.File{}, read: true, sources: []source{{s, l}}}
}

func TestRows(t *testing.T) {
	for _, test := range handMade {
		t.Run(test.name, func(t *testing.T) {
			table := tableOf(t, elf.EM_X86_64, &section{data: frame(test.cie, test.fde)})
			rows, err := table.Rows(0x1000, 0x2000)
			if !reflect.DeepEqual(rows, test.rows) || !errors.Is(err, test.err) || test.err == nil && err != nil {
				t.Errorf("%+v, %v\nwant %+v, %v", rows, err, test.rows, test.err)
			}
		})
	}
}

// TestRowsAround checks the rows before, inside and behind a function.
func TestRowsAround(t *testing.T) {
	table := tableOf(t, elf.EM_X86_64, &section{data: frame(usual, []byte{cfaAdvanceLoc1, 0x80, cfaDefCFAOffset, 16})})
	later := with(func(r *Rule) { r.Offset = 16 })
	for _, test := range []struct {
		low, high uint64
		want      []Row
	}{
		{0x0, 0x1000, []Row{{0, Rule{Kind: FramePointer}}}},
		{0xf00, 0x1010, []Row{{0xf00, Rule{Kind: FramePointer}}, {0x1000, entryRule}}},
		{0x1020, 0x10a0, []Row{{0x1020, entryRule}, {0x1080, later}}},
		{0x1f00, 0x2100, []Row{{0x1f00, later}, {0x2000, Rule{Kind: FramePointer}}}},
		{0x1f00, 0x200f, []Row{{0x1f00, later}}}, // padding
		{0x2000, 0x2001, []Row{{0x2000, Rule{Kind: FramePointer}}}},
		{0x1000, 0x1000, nil},
	} {
		rows, err := table.Rows(test.low, test.high)
		if !reflect.DeepEqual(rows, test.want) || err != nil {
			t.Errorf("%#x to %#x: %+v, %v; want %+v", test.low, test.high, rows, err, test.want)
		}
	}
}

// TestRowsOfLinkageTable makes rows of a linkage table's expression, which uses the address.
func TestRowsOfLinkageTable(t *testing.T) {
	expression := []byte{
		cfaDefCFAExpression, 11, opBreg0 + 7, 8, opBreg0 + 16, 0, opLit0 + 15, opAnd, opLit0 + 11, opGe,
		opLit0 + 3, opShl, opPlus,
	}
	table := tableOf(t, elf.EM_X86_64, &section{data: frame(usual, expression)})
	rows, err := table.Rows(0x1000, 0x1020)
	pushed := with(func(r *Rule) { r.Offset = 16 })
	want := []Row{{0x1000, entryRule}, {0x100b, pushed}, {0x1010, entryRule}, {0x101b, pushed}}
	if !reflect.DeepEqual(rows, want) || err != nil {
		t.Errorf("%+v, %v; want %+v", rows, err, want)
	}
}

// TestRowsOfArm64 finds the return address in the link register until it is saved.
func TestRowsOfArm64(t *testing.T) {
	const lr, frameRegister, sp = 30, 29, 31
	data := frame([]byte{cfaDefCFA, sp, 0}, []byte{
		cfaAdvanceLoc | 4, cfaNegateRA, // paciasp
		// stp x29, x30, [sp, -32]!
		cfaAdvanceLoc | 4, cfaDefCFAOffset, 32, cfaOffset | frameRegister, 4, cfaOffset | lr, 3,
		cfaAdvanceLoc | 4, cfaDefCFARegister, frameRegister, // mov x29, sp
		cfaAdvanceLoc | 40, cfaRestore | lr, cfaRestore | frameRegister, cfaDefCFA, sp, 0,
	})
	data[12] = lr // the column of the return address
	table := tableOf(t, elf.EM_AARCH64, &section{data: data})
	rows, err := table.Rows(0x1000, 0x2000)
	leaf := Rule{Kind: CFA, Base: SP}
	want := []Row{
		{0x1000, leaf},
		{0x1008, Rule{Kind: CFA, Base: SP, Offset: 32, FP: Saved{AtCFA, -32}, RA: -24}},
		{0x100c, Rule{Kind: CFA, Base: FP, Offset: 32, FP: Saved{AtCFA, -32}, RA: -24}},
		{0x1034, leaf},
	}
	if !reflect.DeepEqual(rows, want) || err != nil {
		t.Errorf("%+v, %v\nwant %+v", rows, err, want)
	}
}

// TestRowsOfGo checks that of Go's tables only the rules of frameless code are used.
func TestRowsOfGo(t *testing.T) {
	data := debugFrame(frame(usual, []byte{cfaAdvanceLoc1, 0x80, cfaDefCFAOffset, 64}))
	table := tableOf(t, elf.EM_X86_64, &section{data: data, debug: true})
	table.isGo = true
	rows, err := table.Rows(0x1000, 0x2000)
	want := []Row{{0x1000, entryRule}, {0x1080, Rule{Kind: FramePointer}}}
	if !reflect.DeepEqual(rows, want) || err != nil {
		t.Errorf("%+v, %v; want %+v", rows, err, want)
	}
}

// debugFrame turns frame's .eh_frame into a .debug_frame.
func debugFrame(eh []byte) []byte {
	copy(eh[4:], []byte{255, 255, 255, 255})
	cieSize := int(eh[0]) + 4
	copy(eh[cieSize+4:], []byte{0, 0, 0, 0})
	return eh
}

// TestSignalsByCode finds the code to which signal handlers return, from one byte before it.
func TestSignalsByCode(t *testing.T) {
	image := make([]byte, 0x100)
	copy(image[0x40:], sigreturn)
	table := &Table{arch: arches[elf.EM_X86_64], image: image, read: true, file: &elf.File{Progs: []*elf.Prog{
		{ProgHeader: elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_X, Vaddr: 0x1000, Filesz: 0x100}},
	}}}
	for _, test := range []struct {
		low, high uint64
		want      []Row
	}{
		{0x1000, 0x1100, []Row{
			{0x1000, Rule{Kind: FramePointer}}, {0x103f, Rule{Kind: Signal}}, {0x1049, Rule{Kind: FramePointer}},
		}},
		{0x1044, 0x1100, []Row{{0x1044, Rule{Kind: Signal}}, {0x1049, Rule{Kind: FramePointer}}}},
		{0x1000, 0x1040, []Row{{0x1000, Rule{Kind: FramePointer}}, {0x103f, Rule{Kind: Signal}}}},
	} {
		rows, err := table.Rows(test.low, test.high)
		if !reflect.DeepEqual(rows, test.want) || err != nil {
			t.Errorf("%#x to %#x: %+v, %v; want %+v", test.low, test.high, rows, err, test.want)
		}
	}
}

// TestDamagedIsBounded reads damaged tables that would take long: many functions with long programs.
func TestDamagedIsBounded(t *testing.T) {
	long := make([]byte, 1<<20)
	for i := range long {
		long[i] = cfaRememberState
		if i%2 == 1 {
			long[i] = cfaRestoreState
		}
	}
	one := frame(usual, long)
	cieSize := int(one[0]) + 4
	var many []byte
	many = append(many, one[:cieSize]...)
	for range 20 {
		f := append([]byte(nil), one[cieSize:len(one)-4]...)
		back := len(many) + 4
		copy(f[4:], []byte{byte(back), byte(back >> 8), byte(back >> 16), byte(back >> 24)})
		many = append(many, f...)
	}
	table := tableOf(t, elf.EM_X86_64, &section{data: many})
	check(t, table, 0x1000, 0x2000)
	if _, err := table.Rows(0x1000, 0x2000); !errors.Is(err, errEndless) {
		t.Errorf("error %v, want %v", err, errEndless)
	}
}
