package experiment

import (
	"errors"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
)

// answerTable gives the kernel side the unwind rows of a page of a binary.
func (t *unitTable) answerTable(e ledger.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var rows []symbol.UnwindRow
	var unitless bool
	var err error
	if e.Place.Inode == 0 {
		rows, err = t.vdsoRows(e.Place.Offset)
	} else {
		b, opening := t.binary(e)
		switch {
		case opening != nil:
			return errors.Join(opening, t.ledger.ForgetTable(e.Place))
		case b == nil: // no ELF file: generated code
			rows = []symbol.UnwindRow{{Offset: e.Place.Offset, Rule: unwind.Rule{Kind: unwind.FramePointer}}}
		default:
			rows, err = b.Unwind(e.Place.Offset, ledger.TableBytes)
			unitless = t.isUnitless(b)
		}
	}
	table := make([]ledger.Row, 0, len(rows))
	for _, r := range rows {
		table = append(table, ledger.Row{Offset: uint16(r.Offset - e.Place.Offset), Rule: r.Rule})
	}
	setting := t.ledger.SetTable(e.Place, table, unitless)
	if errors.Is(setting, ledger.ErrTablesFull) && !t.tablesFull {
		t.tablesFull = true
		t.log.Warn("from here on new code is not looked through for callers: " + setting.Error())
	}
	return errors.Join(err, setting)
}

// isUnitless reports whether no code of a binary can be a unit, as of a library of the system in which nothing was
// named. Then samples there need not wait until each of its thousands of places has been asked about, and its debug
// information need not be read.
func (t *unitTable) isUnitless(b *symbol.Binary) bool {
	none, known := t.unitless[b]
	if !known {
		none = !t.list && len(t.scope.Include) == 0 && len(t.lines) == 0 &&
			b.Origin(t.isMain(b)).System() && !t.made.runtimes[b].HasParts() && !t.mayHaveTarget(b)
		t.unitless[b] = none
	}
	return none
}

// mayHaveTarget reports whether a target, or a caller that it names, may be in a library. In a library with debug
// information functions may be inlined anywhere, and to know that, all of it would have to be read. But a user who
// names a function or a line that the program itself has does not mean a library's.
func (t *unitTable) mayHaveTarget(b *symbol.Binary) bool {
	inProgram := func(has func(p *symbol.Binary) bool) bool { return slices.ContainsFunc(t.program, has) }
	for i := range t.targets {
		for file, line := range t.targets[i].Lines() {
			if b.HasDebugInfo() && !inProgram(func(p *symbol.Binary) bool { return p.CheckLine(file, line) == nil }) {
				return true
			}
		}
		for _, name := range t.targets[i].Functions() {
			if hasEntry(b, name) || b.HasDebugInfo() && !inProgram(func(p *symbol.Binary) bool { return hasEntry(p, name) }) {
				return true
			}
		}
	}
	return false
}

// hasEntry reports whether a binary has a function with this symbol, or may have.
func hasEntry(b *symbol.Binary, name string) bool {
	funcs, err := b.Functions(name)
	return err != nil || len(funcs) > 0
}

// vdsoRows are the rows of a page of the vDSO. All processes have the same one, so that of this process is read.
func (t *unitTable) vdsoRows(offset uint64) ([]symbol.UnwindRow, error) {
	if t.vdso == nil {
		v, err := symbol.OpenVDSO()
		if err != nil {
			return nil, err
		}
		t.vdso = v
	}
	return t.vdso.Unwind(offset, ledger.TableBytes)
}
