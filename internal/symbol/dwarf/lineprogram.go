package dwarf

import (
	"cmp"
	"slices"
)

// Opcodes of the line number program, DWARF 5 section 7.22.
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

// lineState is the state machine that the program drives.
type lineState struct {
	addr uint64
	op   uint64 // operation within a VLIW bundle
	file uint64
	line int64
	rows []row
	sort bool // addresses went back

	column uint64
	stmt   bool
	each   func(mark) // if set, it is shown every row, and rows stay empty
}

func (s *lineState) reset(stmt bool) {
	*s = lineState{file: 1, line: 1, rows: s.rows[:0], stmt: stmt, each: s.each}
}

// emit appends a row. Of several at one address the last one counts: those
// before it cover no code. A row that repeats its line covers nothing new.
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

// run executes the program and gives each sequence's rows and end. The rows
// are only valid during the call.
func (d *Data) run(h *lineHeader, sequence func(rows []row, end uint64)) {
	d.runShowing(h, nil, sequence)
}

// runShowing is run for who wants to see the rows as they are, each by itself.
func (d *Data) runShowing(h *lineHeader, each func(mark), sequence func(rows []row, end uint64)) {
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
		kept = 96 // marks, which are sorted
	}
	for c.more() && d.burn() {
		op := int(c.u8())
		if op >= h.opcodeBase {
			d.took(kept)
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
			d.took(h.extended(&c, &s, sequence))
		case lnsCopy:
			d.took(kept)
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

// extended executes an opcode that carries its own length, and says how much it keeps, in bytes.
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
			// Stable: of equal addresses the last one counts here as well.
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
