package classfile

import (
	"errors"
	"fmt"
)

// Tags of constants.
const (
	tagUTF8        = 1
	tagLong        = 5
	tagDouble      = 6
	tagClass       = 7
	tagFieldref    = 9
	tagMethodref   = 10
	tagNameAndType = 12
)

// Flags of classes, fields and methods.
const (
	accPublic = 0x01
	accStatic = 0x08
	accFinal  = 0x10
	accSuper  = 0x20
	accNative = 0x100
)

// sizes are those of constants by tag, without the tag. The size of a text is in front of it.
var sizes = map[int]int{
	3: 4, 4: 4, tagLong: 8, tagDouble: 8, tagClass: 2, 8: 2, tagFieldref: 4, tagMethodref: 4, 11: 4, tagNameAndType: 4,
	15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}

// pool is the table of constants, by number: where each begins, at its tag. A number without a constant has 0.
type pool struct {
	data  []byte
	at    []int
	texts map[int]string // a copy for each use would be too much of a hostile class
}

const mostConstants = 1<<16 - 1

func readPool(r *reader) (pool, error) {
	n := r.u2()
	if n == 0 {
		return pool{}, errors.New("it has no constants")
	}
	p := pool{data: r.data, at: make([]int, n), texts: make(map[int]string)}
	for i := 1; i < n; i++ {
		p.at[i] = r.at
		tag := r.u1()
		size, known := sizes[tag]
		switch {
		case r.err != nil:
			return p, r.err
		case tag == tagUTF8:
			size = r.u2()
		case !known:
			return p, fmt.Errorf("constant %d has the unknown tag %d", i, tag)
		}
		r.take(size)
		if tag == tagLong || tag == tagDouble {
			i++ // they take two numbers
		}
	}
	return p, r.err
}

// constant is the content of a constant that has a tag; nil: it is none of these.
func (p pool) constant(i, tag int) []byte {
	if i < 1 || i >= len(p.at) || p.at[i] == 0 || int(p.data[p.at[i]]) != tag {
		return nil
	}
	return p.data[p.at[i]+1:]
}

func number2(b []byte) int { return int(b[0])<<8 | int(b[1]) }

// text is a constant's text. Java's encoding differs from UTF-8 for characters that no name has here: they are wrong,
// then, but never the same as another name.
func (p pool) text(i int) (string, bool) {
	if s, ok := p.texts[i]; ok {
		return s, true
	}
	b := p.constant(i, tagUTF8)
	if b == nil {
		return "", false
	}
	s := string(b[2 : 2+number2(b)])
	p.texts[i] = s
	return s, true
}

// class is the name of a class: com/shop/Cart.
func (p pool) class(i int) (string, bool) {
	b := p.constant(i, tagClass)
	if b == nil {
		return "", false
	}
	return p.text(number2(b))
}

// writer adds constants.
type writer struct {
	bytes []byte
	next  int
	known map[string]int
}

// add adds a constant, once, and gives its number.
func (w *writer) add(constant []byte) int {
	if n, ok := w.known[string(constant)]; ok {
		return n
	}
	n := w.next
	w.known[string(constant)] = n
	w.bytes = append(w.bytes, constant...)
	w.next++
	if constant[0] == tagLong {
		w.next++
	}
	return n
}

func (w *writer) text(s string) int {
	return w.add(append([]byte{tagUTF8, byte(len(s) >> 8), byte(len(s))}, s...))
}

func (w *writer) pair(tag byte, a, b int) int {
	return w.add([]byte{tag, byte(a >> 8), byte(a), byte(b >> 8), byte(b)})
}

func (w *writer) class(name string) int {
	n := w.text(name)
	return w.add([]byte{tagClass, byte(n >> 8), byte(n)})
}

func (w *writer) method(class, name, descriptor string) int {
	c := w.class(class)
	return w.pair(tagMethodref, c, w.pair(tagNameAndType, w.text(name), w.text(descriptor)))
}

func newWriter(first int) *writer { return &writer{next: first, known: make(map[string]int)} }
