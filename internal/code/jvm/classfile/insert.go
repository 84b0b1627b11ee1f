package classfile

import (
	"errors"
	"fmt"
	"slices"
)

// Call is a call of a static method without a result.
type Call struct {
	Place
	Class string // that has the method: com/shop/Cart
	Name  string
	// Long has the method take a long: the key in an argument of the method that calls it, at its entry. See Key.
	Long     bool
	Argument int // its number, from 1; 0: the long is 0
}

// piece is a call as it is inserted.
type piece struct {
	Call
	code []byte // a multiple of callSize bytes
}

const (
	callSize = 4
	// A long takes two places on the stack.
	longSize  = 2
	mostStack = 1<<16 - 1
	// HotSpot does not compile methods with more bytes.
	mostCompiled = 8000
)

// Errors of classes into which calls do not fit.
var (
	ErrTooLong = errors.New("the method is too long")
	ErrFull    = errors.New("the class has too many constants")
)

// Insert gives the class with calls. Several calls may be at one place.
func (c *Class) Insert(calls []Call) ([]byte, error) {
	out, err := c.insert(calls)
	if err != nil {
		return nil, fmt.Errorf("inserting calls into %s: %w", c.Name, err)
	}
	return out, nil
}

func (c *Class) insert(calls []Call) ([]byte, error) {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return c.order(a) - c.order(b) })
	w := newWriter(len(c.pool.at))
	bodies := make(map[int][]byte) // by method
	for len(calls) > 0 {
		i := calls[0].Method
		if i < 0 || i >= len(c.Methods) {
			return nil, fmt.Errorf("it has no method %d", i)
		}
		n := slices.IndexFunc(calls, func(x Call) bool { return x.Method != i })
		if n < 0 {
			n = len(calls)
		}
		content, err := c.insertInto(&c.Methods[i], calls[:n], w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Methods[i].Name, err)
		}
		bodies[i], calls = content, calls[n:]
	}
	if w.next > mostConstants {
		return nil, ErrFull
	}
	var out []byte
	out = append(out, c.data[:8]...)
	out = append2(out, w.next)
	out = append(out, c.data[10:c.poolEnd]...)
	out = append(out, w.bytes...)
	from := c.poolEnd
	for i := range c.Methods {
		content, changed := bodies[i]
		if !changed {
			continue
		}
		s := c.Methods[i].code
		out = append(out, c.data[from:s.from-4]...)
		out = append4(out, len(content))
		out = append(out, content...)
		from = s.to
	}
	return append(out, c.data[from:]...), nil
}

// order is the one in which calls are inserted: of those at one place, that of the method's entry comes first.
func (c *Class) order(x Call) int {
	n := x.Method<<18 | x.at<<1
	if !x.once {
		n++
	}
	return n
}

func append2(b []byte, n int) []byte { return append(b, byte(n>>8), byte(n)) }
func append4(b []byte, n int) []byte { return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)) }

// moved says where what was at a place is after calls were inserted. The array has one more than the code is long.
type moved []struct{ before, once, total int } // total bytes are inserted at the place, once of them at an entry

// before is the first byte that was inserted at a place: the place as the end of what is before it.
func (m moved) before(at int) int { return m[at].before }

// target is what jumps to a place lead to now. They pass the calls there, but not the method's entry.
func (m moved) target(at int) int { return m[at].before + m[at].once }

// instruction is the place of the instruction itself.
func (m moved) instruction(at int) int { return m[at].before + m[at].total }

func (b *body) move(calls []piece) (moved, error) {
	m := make(moved, len(b.code)+1)
	for _, c := range calls {
		if !b.isStart(c.at) {
			return nil, fmt.Errorf("no instruction is at %d", c.at)
		}
		m[c.at].total += len(c.code)
		if c.once {
			m[c.at].once += len(c.code)
		}
	}
	for at := 1; at < len(m); at++ {
		m[at].before = m[at-1].before + m[at-1].total + 1
	}
	size := m.before(len(b.code))
	if size > mostCode || size > mostCompiled && len(b.code) <= mostCompiled {
		return nil, fmt.Errorf("%w: with the call it has %d bytes", ErrTooLong, size)
	}
	return m, nil
}

// insertInto gives a method's body with calls, which are in order.
func (c *Class) insertInto(method *Method, calls []Call, w *writer) ([]byte, error) {
	b, err := c.body(method)
	if err != nil {
		return nil, err
	}
	pieces := make([]piece, len(calls))
	for i, call := range calls {
		code, err := method.call(call, w)
		if err != nil {
			return nil, err
		}
		pieces[i] = piece{call, code}
	}
	if slices.ContainsFunc(calls, func(x Call) bool { return x.Long }) {
		if b.stack += longSize; b.stack > mostStack {
			return nil, ErrTooLong
		}
	}
	m, err := b.move(pieces)
	if err != nil {
		return nil, err
	}
	code, err := b.moveCode(m, pieces)
	if err != nil {
		return nil, err
	}
	out := append2(nil, b.stack)
	out = append2(out, b.locals)
	out = append4(out, len(code))
	out = append(out, code...)
	out = append2(out, len(b.catches))
	for _, x := range b.catches {
		// A call where a block begins belongs to the block: if that is the one of a lock, and the call fails as the stack
		// is full, the lock is given back.
		for _, n := range []int{m.before(x.from), m.before(x.to), m.target(x.handler), x.class} {
			out = append2(out, n)
		}
	}
	return b.moveAttributes(out, m)
}

// moveCode gives the code with calls.
func (b *body) moveCode(m moved, calls []piece) ([]byte, error) {
	code := make([]byte, 0, m.before(len(b.code)))
	var err error
	for at := 0; at < len(b.code); {
		for ; len(calls) > 0 && calls[0].at == at; calls = calls[1:] {
			code = append(code, calls[0].code...)
		}
		size := sizeAt(b.code, at)
		code = append(code, b.code[at:at+size]...)
		copied := code[len(code)-size:]
		eachJump(b.code, at, func(j jump) {
			n := m.target(j.to) - m.instruction(at)
			put := copied[j.at-at:]
			switch {
			case j.wide:
				copy(put, append4(nil, n))
			case int(int16(n)) == n:
				copy(put, append2(nil, n))
			default:
				err = fmt.Errorf("%w: the jump at %d would not reach", ErrTooLong, at)
			}
		})
		at += size
	}
	return code, err
}

// moveAttributes adds the attributes of the code. Those are left out that name places in a way that is not known here,
// such as type annotations: the JVM reads none of them.
func (b *body) moveAttributes(out []byte, m moved) ([]byte, error) {
	count := len(out)
	out = append2(out, 0)
	n := 0
	for _, a := range b.attributes {
		var content []byte
		var err error
		switch a.name {
		case "LineNumberTable":
			content, err = b.moveLines(a.content, m)
		case "LocalVariableTable", "LocalVariableTypeTable":
			content, err = b.moveVariables(a.content, m)
		case "StackMapTable":
			content, err = b.moveFrames(a.content, m)
		default:
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		out = append2(out, a.nameSlot)
		out = append4(out, len(content))
		out = append(out, content...)
		n++
	}
	copy(out[count:], append2(nil, n))
	return out, nil
}
