package unwind

import (
	"errors"
	"fmt"
)

// how says where a function keeps the value that a register had in its caller.
type how uint8

const (
	same how = iota
	undefined
	atOffset     // saved at CFA + offset
	atExpression // saved at an expression's result
	otherwise    // in another register, or computed: not followed
)

type saved struct {
	how        how
	offset     int64
	expression []byte
}

// state is the result of the instructions up to an address. The CFA is register + offset, or an
// expression if there is one.
type state struct {
	register   uint64
	offset     int64
	expression []byte
	saved      [followed]saved
}

// Bounds that only damaged files exceed.
const (
	maxRemembered = 64
	// maxInstructions is for one call of Rows. The longest functions seen, interpreters' loops,
	// have a few thousand instructions.
	maxInstructions = 1 << 20
)

var (
	errBackwards  = errors.New("addresses go backwards")
	errEndless    = errors.New("too many instructions")
	errRemembered = errors.New("states remembered and restored do not match")
)

// machine runs the instructions of one function for the rows of a range.
type machine struct {
	arch       *arch
	function   fde
	at         uint64
	state      state
	initial    state // after the CIE's instructions
	inCIE      bool  // these are running
	remembered []state
	left       *int // instructions that may still be run
	// row is called with the state that holds from one address up to another.
	row func(from, to uint64, s *state)
}

// run runs a function's instructions up to the address end.
func (m *machine) run(end uint64) error {
	m.at = m.function.begin
	m.inCIE = true
	if err := m.execute(m.function.cie.start, end); err != nil {
		return err
	}
	m.inCIE = false
	m.initial = m.state
	if err := m.execute(m.function.program, end); err != nil {
		return err
	}
	if m.at < end {
		m.row(m.at, end, &m.state)
		m.at = end
	}
	return nil
}

func (m *machine) execute(b reader, end uint64) error {
	for len(b.data) > 0 && m.at < end {
		if *m.left--; *m.left < 0 {
			return errEndless
		}
		if err := m.step(&b, end); err != nil {
			return err
		}
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// moveTo goes on to an address. The current state holds up to there.
func (m *machine) moveTo(address, end uint64) error {
	if address < m.at {
		return errBackwards
	}
	if m.inCIE && address != m.at {
		return errBackwards
	}
	if to := min(address, end); to > m.at {
		m.row(m.at, to, &m.state)
	}
	m.at = address
	return nil
}

// The instructions of call frame tables.
const (
	cfaAdvanceLoc = 0x40 // the upper two bits; the lower six are the first operand
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop              = 0x00
	cfaSetLoc           = 0x01
	cfaAdvanceLoc1      = 0x02
	cfaAdvanceLoc2      = 0x03
	cfaAdvanceLoc4      = 0x04
	cfaOffsetExtended   = 0x05
	cfaRestoreExtended  = 0x06
	cfaUndefined        = 0x07
	cfaSameValue        = 0x08
	cfaRegister         = 0x09
	cfaRememberState    = 0x0a
	cfaRestoreState     = 0x0b
	cfaDefCFA           = 0x0c
	cfaDefCFARegister   = 0x0d
	cfaDefCFAOffset     = 0x0e
	cfaDefCFAExpression = 0x0f
	cfaExpression       = 0x10
	cfaOffsetExtendedSf = 0x11
	cfaDefCFASf         = 0x12
	cfaDefCFAOffsetSf   = 0x13
	cfaValOffset        = 0x14
	cfaValOffsetSf      = 0x15
	cfaValExpression    = 0x16
	cfaAdvanceLoc8      = 0x1d // MIPS's, but some assemblers write it for other processors
	cfaNegateRAWithPC   = 0x2c
	cfaNegateRA         = 0x2d
	cfaArgsSize         = 0x2e
	cfaNegativeOffset   = 0x2f
)

func (m *machine) step(b *reader, end uint64) error {
	c := m.function.cie
	op := b.byte()
	low := uint64(op & 0x3f)
	advance := func(delta uint64) error {
		if c.codeAlign != 0 && delta > (1<<40)/c.codeAlign {
			return errBackwards
		}
		return m.moveTo(m.at+delta*c.codeAlign, end)
	}
	switch op & 0xc0 {
	case cfaAdvanceLoc:
		return advance(low)
	case cfaOffset:
		m.save(low, saved{how: atOffset, offset: int64(b.uleb()) * c.dataAlign})
		return nil
	case cfaRestore:
		m.restore(low)
		return nil
	}
	switch op {
	case cfaSetLoc:
		return m.moveTo(b.pointer(c.encoding, 0), end)
	case cfaAdvanceLoc1:
		return advance(b.number(1))
	case cfaAdvanceLoc2:
		return advance(b.number(2))
	case cfaAdvanceLoc4:
		return advance(b.number(4))
	case cfaAdvanceLoc8:
		return advance(b.number(8))
	case cfaRememberState:
		if len(m.remembered) >= maxRemembered {
			return errRemembered
		}
		m.remembered = append(m.remembered, m.state)
	case cfaRestoreState:
		n := len(m.remembered)
		if n == 0 {
			return errRemembered
		}
		m.state, m.remembered = m.remembered[n-1], m.remembered[:n-1]
	case cfaNop, cfaNegateRA, cfaNegateRAWithPC:
	case cfaArgsSize:
		b.uleb()
	default:
		return m.define(op, b)
	}
	return nil
}

// define runs an instruction that defines the CFA or the place of a register.
func (m *machine) define(op byte, b *reader) error {
	s, align := &m.state, m.function.cie.dataAlign
	register := func() uint64 { return b.uleb() }
	switch op {
	case cfaDefCFA:
		s.register, s.offset, s.expression = register(), int64(b.uleb()), nil
	case cfaDefCFASf:
		s.register, s.offset, s.expression = register(), b.sleb()*align, nil
	case cfaDefCFARegister:
		s.register, s.expression = register(), nil
	case cfaDefCFAOffset:
		s.offset = int64(b.uleb())
	case cfaDefCFAOffsetSf:
		s.offset = b.sleb() * align
	case cfaDefCFAExpression:
		s.expression = b.take(b.uleb())
	case cfaUndefined:
		m.save(register(), saved{how: undefined})
	case cfaSameValue:
		m.save(register(), saved{})
	case cfaOffsetExtended:
		r := register()
		m.save(r, saved{how: atOffset, offset: int64(b.uleb()) * align})
	case cfaOffsetExtendedSf:
		r := register()
		m.save(r, saved{how: atOffset, offset: b.sleb() * align})
	case cfaNegativeOffset:
		r := register()
		m.save(r, saved{how: atOffset, offset: -int64(b.uleb()) * align})
	case cfaRestoreExtended:
		m.restore(register())
	case cfaExpression:
		r := register()
		m.save(r, saved{how: atExpression, expression: b.take(b.uleb())})
	case cfaRegister:
		r := register()
		b.uleb()
		m.save(r, saved{how: otherwise})
	case cfaValOffset:
		r := register()
		b.uleb()
		m.save(r, saved{how: otherwise})
	case cfaValOffsetSf:
		r := register()
		b.sleb()
		m.save(r, saved{how: otherwise})
	case cfaValExpression:
		r := register()
		b.take(b.uleb())
		m.save(r, saved{how: otherwise})
	default:
		return fmt.Errorf("instruction %#x", op)
	}
	return nil
}

func (m *machine) save(register uint64, where saved) {
	if i := m.arch.slot(register); i >= 0 {
		m.state.saved[i] = where
	}
}

// restore gives a register the place that the CIE says.
func (m *machine) restore(register uint64) {
	if i := m.arch.slot(register); i >= 0 {
		m.state.saved[i] = m.initial.saved[i]
	}
}
