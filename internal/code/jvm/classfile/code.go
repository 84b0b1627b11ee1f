package classfile

import (
	"errors"
	"fmt"
	"math"
)

// body is the code of one method, taken apart.
type body struct {
	stack, locals int
	code          []byte
	starts        []bool // where instructions begin; one more than the code is long, for its end
	catches       []catch
	lines         []lineStart // as in the class, in any order
	attributes    []attribute
}

// catch is an entry of the exception table.
type catch struct{ from, to, handler, class int }

// lineStart says from where on the code belongs to a line.
type lineStart struct{ at, line int }

// attribute is an attribute of the code.
type attribute struct {
	nameSlot int
	name     string
	content  []byte
}

// Opcodes.
const (
	opNOP           = 0x00
	opACONSTNULL    = 0x01
	opLCONST0       = 0x09
	opLCONST1       = 0x0a
	opLDC2W         = 0x14
	opILOAD         = 0x15
	opLLOAD         = 0x16
	opALOAD         = 0x19
	opPOP2          = 0x58
	opI2L           = 0x85
	opGETSTATIC     = 0xb2
	opPUTSTATIC     = 0xb3
	opINVOKEVIRTUAL = 0xb6
	opIINC          = 0x84
	opIFEQ          = 0x99
	opGOTO          = 0xa7
	opJSR           = 0xa8
	opRET           = 0xa9
	opTABLESWITCH   = 0xaa
	opLOOKUPSWITCH  = 0xab
	opIRETURN       = 0xac
	opRETURN        = 0xb1
	opINVOKESTATIC  = 0xb8
	opNEW           = 0xbb
	opATHROW        = 0xbf
	opWIDE          = 0xc4
	opIFNULL        = 0xc6
	opIFNONNULL     = 0xc7
	opGOTOW         = 0xc8
	opJSRW          = 0xc9
)

// operands is how many bytes follow an opcode; negative: it is unknown, or has no fixed number of them.
func operands(op int) int {
	switch {
	case op == 0x10, op == 0x12, op >= 0x15 && op <= 0x19, op >= 0x36 && op <= 0x3a, op == opRET, op == 0xbc:
		return 1 // bipush, ldc, loads and stores, newarray
	case op == 0x11, op == 0x13, op == 0x14, op == opIINC, op >= opIFEQ && op <= opJSR, op >= 0xb2 && op <= opINVOKESTATIC,
		op == opNEW, op == 0xbd, op == 0xc0, op == 0xc1, op == opIFNULL, op == opIFNONNULL:
		return 2 // sipush, ldc_w, ldc2_w, jumps, fields, calls, anewarray, checkcast, instanceof
	case op == 0xc5: // multianewarray
		return 3
	case op == 0xb9, op == 0xba, op == opGOTOW, op == opJSRW: // invokeinterface, invokedynamic
		return 4
	case op > opJSRW, op == opWIDE, op == opTABLESWITCH, op == opLOOKUPSWITCH:
		return -1
	}
	return 0
}

// sizeAt is the size of the instruction at a place; 0: there is none.
func sizeAt(code []byte, at int) int {
	op := int(code[at])
	switch {
	case op == opTABLESWITCH || op == opLOOKUPSWITCH:
		return switchSize(code, at)
	case op == opWIDE:
		if at+1 < len(code) && code[at+1] == opIINC {
			return 6
		}
		return 4
	}
	return 1 + operands(op)
}

// switchSize is the size of a switch; 0: it does not fit.
func switchSize(code []byte, at int) int {
	from := padded(at)
	if from+8 > len(code) {
		return 0
	}
	n := signed4(code[from+4:]) // of pairs
	words := 2 + 2*n
	if code[at] == opTABLESWITCH {
		if from+12 > len(code) {
			return 0
		}
		n = signed4(code[from+8:]) - n + 1 // from the lowest number to the highest
		words = 3 + n
	}
	if n < 0 || words > len(code)/4 {
		return 0
	}
	return from + 4*words - at
}

// padded is where the numbers of a switch begin.
func padded(at int) int { return (at + 4) &^ 3 }

func signed2(b []byte) int { return int(int16(number2(b))) }
func signed4(b []byte) int { return int(int32(number2(b)<<16 | number2(b[2:]))) }

// jump is an offset in an instruction, relative to its beginning.
type jump struct {
	at   int // of the offset
	wide bool
	to   int // the place that is meant
}

// eachJump gives the offsets of the instruction at a place, a switch's default first.
func eachJump(code []byte, at int, f func(jump)) {
	wide := func(i int) { f(jump{i, true, at + signed4(code[i:])}) }
	switch op := code[at]; {
	case op >= opIFEQ && op <= opJSR, op == opIFNULL, op == opIFNONNULL:
		f(jump{at + 1, false, at + signed2(code[at+1:])})
	case op == opGOTOW, op == opJSRW:
		wide(at + 1)
	case op == opTABLESWITCH || op == opLOOKUPSWITCH:
		from, end := padded(at), at+sizeAt(code, at)
		wide(from)
		i, step := from+12, 4
		if op == opLOOKUPSWITCH {
			step = 8
		}
		for ; i < end; i += step {
			wide(i)
		}
	}
}

// goesOn tells whether the instruction behind one may be the next.
func goesOn(op byte) bool {
	switch {
	case op == opGOTO, op == opGOTOW, op == opRET, op == opATHROW, op == opTABLESWITCH, op == opLOOKUPSWITCH,
		op >= opIRETURN && op <= opRETURN:
		return false
	}
	return true // behind a subroutine's call the code goes on when it returns
}

const mostCode = math.MaxUint16

// body reads the code of a method.
func (c *Class) body(m *Method) (*body, error) {
	b, err := c.readBody(m)
	if err != nil {
		return nil, fmt.Errorf("reading %s.%s: %w", c.Name, m.Name, err)
	}
	return b, nil
}

func (c *Class) readBody(m *Method) (*body, error) {
	if !m.HasCode {
		return nil, errors.New("it has no code: it is abstract, or native")
	}
	r := &reader{data: c.data[:m.code.to], at: m.code.from}
	b := &body{stack: r.u2(), locals: r.u2()}
	b.code = r.take(r.u4())
	n := r.u2()
	for i := 0; i < n && r.err == nil; i++ {
		b.catches = append(b.catches, catch{r.u2(), r.u2(), r.u2(), r.u2()})
	}
	if n = r.u2(); r.err != nil {
		return nil, r.err
	}
	for range n {
		slot := r.u2()
		content := r.take(r.u4())
		name, ok := c.pool.text(slot)
		if r.err != nil || !ok {
			return nil, errors.Join(r.err, errors.New("its attributes are wrong"))
		}
		b.attributes = append(b.attributes, attribute{slot, name, content})
	}
	if r.at != m.code.to {
		return nil, errors.New("something follows its attributes")
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, b.readLines()
}

// check finds where instructions begin, and refuses what does not lead to one.
func (b *body) check() error {
	if len(b.code) == 0 || len(b.code) > mostCode {
		return fmt.Errorf("its code has %d bytes", len(b.code))
	}
	b.starts = make([]bool, len(b.code)+1)
	for at := 0; at < len(b.code); {
		size := sizeAt(b.code, at)
		if size == 0 || size > len(b.code)-at {
			return fmt.Errorf("there is no instruction at %d", at)
		}
		b.starts[at] = true
		at += size
	}
	wrong := -1
	for at := range b.code {
		if b.starts[at] {
			eachJump(b.code, at, func(j jump) {
				if !b.isStart(j.to) {
					wrong = at
				}
			})
		}
	}
	if wrong >= 0 {
		return fmt.Errorf("the jump at %d does not lead to an instruction", wrong)
	}
	b.starts[len(b.code)] = true
	for _, c := range b.catches {
		if c.from >= c.to || c.to > len(b.code) || !b.starts[c.from] || !b.starts[c.to] || !b.isStart(c.handler) {
			return errors.New("its exception table is wrong")
		}
	}
	return nil
}

// isStart tells whether an instruction begins at a place.
func (b *body) isStart(at int) bool { return at >= 0 && at < len(b.code) && b.starts[at] }

func (b *body) readLines() error {
	for _, a := range b.attributes {
		if a.name != "LineNumberTable" {
			continue
		}
		r := &reader{data: a.content}
		n := r.u2()
		for i := 0; i < n && r.err == nil; i++ {
			l := lineStart{r.u2(), r.u2()}
			if !b.isStart(l.at) {
				return errors.New("its table of lines is wrong")
			}
			b.lines = append(b.lines, l)
		}
		if len(b.lines) > 2*mostCode { // there may be many tables, each of which is sorted for each line
			return errors.New("it has too many lines")
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}
