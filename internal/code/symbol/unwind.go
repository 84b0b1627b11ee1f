package symbol

import (
	"debug/elf"
	"fmt"

	"whatif/internal/code/unwind"
)

// UnwindRow is a rule that holds from an offset in the file up to the next row: how to find the caller.
type UnwindRow struct {
	Offset uint64
	Rule   unwind.Rule
}

// maxCovering bounds the segments of code in which one page of the file is looked up. Linkers put a page into two at
// most.
const maxCovering = 4

// Unwind returns the rows for n bytes of the file from an offset on. The first row is at that offset.
// The rows are complete even if there is an error: code without readable tables has no rule.
func (b *Binary) Unwind(fileOffset, n uint64) (rows []UnwindRow, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("reading the unwind tables of %s+%#x", b.path, fileOffset)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	rows = []UnwindRow{{Offset: fileOffset}}
	table, err := b.unwindTable()
	if err != nil {
		return rows, fmt.Errorf("%s: %w", doing, err)
	}
	left := maxCovering
	for _, p := range b.elf.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || left == 0 {
			continue
		}
		from, to := max(fileOffset, p.Off), min(fileOffset+n, p.Off+p.Filesz)
		if from >= to {
			continue
		}
		left--
		found, rowsErr := table.Rows(from-p.Off+p.Vaddr, to-p.Off+p.Vaddr)
		if rowsErr != nil {
			err = fmt.Errorf("%s: %w", doing, rowsErr)
		}
		for _, r := range found {
			rows = append(rows, UnwindRow{r.Address - p.Vaddr + p.Off, r.Rule})
		}
	}
	if len(rows) > 1 && rows[1].Offset == fileOffset {
		rows = rows[1:]
	}
	return rows, err
}

// unwindTable prepares the tables of the binary, once.
func (b *Binary) unwindTable() (_ *unwind.Table, err error) {
	if b.unwinding == nil {
		b.unwinding, err = unwind.New(b.elf, b.image, b.IsGo(), b.debugFrame)
	}
	return b.unwinding, err
}

// debugFrame returns the .debug_frame that was stripped from the binary, nil if there is none.
func (b *Binary) debugFrame() []byte {
	if f := b.debugFile(); f != nil && f != b.file {
		return f.Section(".debug_frame")
	}
	return nil
}
