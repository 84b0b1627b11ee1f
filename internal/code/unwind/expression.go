package unwind

import (
	"errors"
	"math"
)

// value is the result of an expression in terms of registers. Without read it is base + offset,
// with read it is memory[base + offset] + add.
type value struct {
	base   Base // NoBase: none
	offset int64
	read   bool
	add    int64
}

var errExpression = errors.New("an expression that is not understood")

func (v value) constant() bool { return v.base == NoBase && !v.read }

func (v value) plus(n int64) value {
	if v.read {
		v.add += n
	} else {
		v.offset += n
	}
	return v
}

// Bounds of an expression. The longest known one, of linkage tables, has nine operations.
const (
	maxExpression = 64 // bytes
	maxDepth      = 16 // of the stack
)

// evaluator evaluates expressions at one address.
type evaluator struct {
	arch   *arch
	ip     uint64
	usedIP bool
	stack  []value
}

func (e *evaluator) push(v value) error {
	if len(e.stack) >= maxDepth {
		return errExpression
	}
	e.stack = append(e.stack, v)
	return nil
}

func (e *evaluator) pop() value {
	n := len(e.stack)
	if n == 0 {
		return value{base: Other + 63} // no register: no rule can use it
	}
	v := e.stack[n-1]
	e.stack = e.stack[:n-1]
	return v
}

// evaluate evaluates an expression. The stack may have initial values.
func (e *evaluator) evaluate(b reader) (value, error) {
	if len(b.data) > maxExpression {
		return value{}, errExpression
	}
	for len(b.data) > 0 {
		if err := e.step(&b); err != nil {
			return value{}, err
		}
		if b.err != nil {
			return value{}, b.err
		}
	}
	if len(e.stack) == 0 {
		return value{}, errExpression
	}
	return e.pop(), nil
}

// The DWARF operations that unwind tables use.
const (
	opDeref      = 0x06
	opConst1u    = 0x08
	opConst1s    = 0x09
	opConst2u    = 0x0a
	opConst2s    = 0x0b
	opConst4u    = 0x0c
	opConst4s    = 0x0d
	opConst8u    = 0x0e
	opConst8s    = 0x0f
	opConstu     = 0x10
	opConsts     = 0x11
	opDup        = 0x12
	opDrop       = 0x13
	opAnd        = 0x1a
	opMinus      = 0x1c
	opPlus       = 0x22
	opPlusUconst = 0x23
	opShl        = 0x24
	opGe         = 0x2a
	opLit0       = 0x30
	opLit31      = 0x4f
	opBreg0      = 0x70
	opBreg31     = 0x8f
	opBregx      = 0x92
	opNop        = 0x96
)

func (e *evaluator) step(b *reader) error {
	number := func(n uint64) error { return e.push(value{offset: int64(n)}) }
	switch op := b.byte(); {
	case op >= opLit0 && op <= opLit31:
		return number(uint64(op - opLit0))
	case op >= opBreg0 && op <= opBreg31:
		return e.register(uint64(op-opBreg0), b.sleb())
	case op == opBregx:
		register := b.uleb()
		return e.register(register, b.sleb())
	case op >= opConst1u && op <= opConst8s:
		size := uint64(1) << ((op - opConst1u) / 2)
		if op&1 == 0 {
			return number(b.number(size))
		}
		return number(b.signed(size))
	case op == opConstu:
		return number(b.uleb())
	case op == opConsts:
		return number(uint64(b.sleb()))
	case op == opNop:
		return nil
	case op == opDup:
		v := e.pop()
		return errors.Join(e.push(v), e.push(v))
	case op == opDrop:
		e.pop()
		return nil
	case op == opPlusUconst:
		return e.push(e.pop().plus(int64(b.uleb())))
	case op == opDeref:
		v := e.pop()
		if v.base == NoBase || v.read {
			return errExpression
		}
		v.read = true
		return e.push(v)
	default:
		return e.binary(op)
	}
}

func (e *evaluator) register(number uint64, offset int64) error {
	if number == e.arch.ip {
		e.usedIP = true
		return e.push(value{offset: int64(e.ip) + offset})
	}
	base := e.arch.base(number)
	if base == NoBase {
		return errExpression
	}
	return e.push(value{base: base, offset: offset})
}

// binary runs an operation with two operands.
func (e *evaluator) binary(op byte) error {
	b, a := e.pop(), e.pop()
	switch {
	case op == opPlus && b.constant():
		return e.push(a.plus(b.offset))
	case op == opPlus && a.constant():
		return e.push(b.plus(a.offset))
	case op == opMinus && b.constant():
		return e.push(a.plus(-b.offset))
	case !a.constant() || !b.constant():
		return errExpression
	case op == opAnd:
		a.offset &= b.offset
	case op == opShl && uint64(b.offset) < 64:
		a.offset <<= uint64(b.offset)
	case op == opGe:
		if a.offset >= b.offset {
			a.offset = 1
		} else {
			a.offset = 0
		}
	default:
		return errExpression
	}
	return e.push(a)
}

// small reports whether a number fits into a Rule.
func small(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }
