package dwarf

import (
	"cmp"
	"slices"
)

// The opcodes of line number programs: DWARF 5, section 7.22.
const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsSetColumn      = 5
	lnsNegateStmt     = 6
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9

	lneEndSequence = 1
	lneSetAddress  = 2
	lneDefineFile  = 3
)

// lineState is the state machine of a line number program.
type lineState struct {
	addr uint64
	op   uint64 // operation within a VLIW bundle
	file uint64
	line int64
	rows []row
	sort bool // rows are not ascending

	column uint64
	stmt   bool
	each   func(mark) // if set, it is called for every row, and rows stay empty
}

func (s *lineState) reset(stmt bool) {
	*s = lineState{file: 1, line: 1, rows: s.rows[:0], stmt: stmt, each: s.each}
}

// emit appends a row. Of several rows at one address only the last covers code. A row with the same line
// as the one before adds nothing.
func (s *lineState) emit() {
	line := s.line
	if line < 0 || line > 1<<31 {
		line = 0
	}
	r := row{addr: s.addr, file: uint32(s.file), line: uint32(line)}
	if s.each != nil {
		s.each(mark{r, clip(s.column), s.stmt})
		return
	}
	n := len(s.rows)
	if n > 0 && s.rows[n-1].addr > r.addr {
		s.sort = true
	}
	if !s.sort && n > 0 {
		if s.rows[n-1].addr == r.addr {
			s.rows[n-1] = r
			return
		}
		if s.rows[n-1].file == r.file && s.rows[n-1].line == r.line {
			return
		}
	}
	s.rows = append(s.rows, r)
}

// run executes the program, and calls sequence with the rows and the end of each sequence. The rows are
// valid only during the call.
func (d *Data) run(h *lineHeader, sequence func(rows []row, end uint64)) {
	d.runEach(h, nil, sequence)
}

// runEach is run that calls each, if it is set, for every row of the program.
func (d *Data) runEach(h *lineHeader, each func(mark), sequence func(rows []row, end uint64)) {
	s := lineState{each: each}
	s.reset(h.defaultStmt)
	c := h.program
	advance := func(n uint64) {
		if h.maxOps == 1 {
			s.addr += h.minInst * n
			return
		}
		s.addr += h.minInst * ((s.op + n) / h.maxOps)
		s.op = (s.op + n) % h.maxOps
	}
	kept := 2 * 16 // bytes a row, here and in the table
	if each != nil {
		kept = 96 // bytes a mark, which are sorted
	}
	for c.more() && d.step() {
		op := int(c.u8())
		if op >= h.opcodeBase {
			d.keepBytes(kept)
			if h.lineRange == 0 {
				return
			}
			adjusted := uint64(op - h.opcodeBase)
			advance(adjusted / h.lineRange)
			s.line += h.lineBase + int64(adjusted%h.lineRange)
			s.emit()
			continue
		}
		switch op {
		case 0:
			d.keepBytes(h.extended(&c, &s, sequence))
		case lnsCopy:
			d.keepBytes(kept)
			s.emit()
		case lnsAdvancePC:
			advance(c.uleb())
		case lnsAdvanceLine:
			s.line += c.sleb()
		case lnsSetFile:
			s.file = c.uleb()
		case lnsSetColumn:
			s.column = c.uleb()
		case lnsNegateStmt:
			s.stmt = !s.stmt
		case lnsConstAddPC:
			if h.lineRange == 0 {
				return
			}
			advance(uint64(255-h.opcodeBase) / h.lineRange)
		case lnsFixedAdvancePC:
			s.addr += uint64(c.u16())
			s.op = 0
		default:
			for range h.opcodeArgs[op-1] {
				c.uleb()
			}
		}
	}
}

// extended executes an opcode that has its own length, and returns how many bytes it keeps.
func (h *lineHeader) extended(c *cursor, s *lineState, sequence func(rows []row, end uint64)) (kept int) {
	n := c.uleb()
	body := at(c.data, c.off, c.off+min(n, c.left()))
	c.skip(n)
	if c.bad {
		return 0
	}
	switch body.u8() {
	case lneEndSequence:
		if s.sort {
			// The sort is stable, as of equal addresses the last row counts.
			slices.SortStableFunc(s.rows, func(a, b row) int { return cmp.Compare(a.addr, b.addr) })
		}
		sequence(s.rows, s.addr)
		s.reset(h.defaultStmt)
		return sequenceSize
	case lneSetAddress:
		s.addr = body.sized(int(body.left()))
		s.op = 0
	case lneDefineFile:
		name := body.cstring()
		dir := body.uleb()
		if !body.bad {
			h.files = append(h.files, lineFile{name, dir})
			return lineFileSize
		}
	}
	return 0
}
