// Package classfile inserts calls into Java classes: at the start of a method, before its returns, and where the
// statement of a source line begins. The calls count the visits of progress points.
//
// The normal sequence: Parse, Class.Methods and Class.Line for the places, Class.Insert for the new class. Helper makes
// the class that is called.
//
// A call takes four bytes, "invokestatic; nop", or a multiple of it: the padding of switches, which begins at
// multiples of four, stays as it is. It gives no result, and puts its argument, if it has one, above what is on the
// stack. So what is there, and the verifier's frames, stay as they are, too. Insert moves everything behind a call,
// and corrects all that names a place in the code.
//
// The package is pure, and does not trust a class: Parse and Insert refuse what is wrong, with an effort that grows
// with the class's size, and not faster.
package classfile

import (
	"errors"
	"fmt"
	"strings"
)

// MaxSize bounds the size of a class file, in bytes. The JVM has other limits; no compiler comes near this one.
const MaxSize = 16 << 20

// Class is a class file that was read.
type Class struct {
	Name   string // com.shop.Cart$Item
	Source string // the file's name without directories: Cart.java; "" if the class does not say
	Old    bool   // made for Java 5 or earlier, and has no frames

	Methods []Method

	data     []byte
	pool     pool
	poolEnd  int
	nameSlot uint16
	checks   int // see mostChecks
}

// Method is one method of a class.
type Method struct {
	Name       string // as in Java, but <init> and <clinit>
	Descriptor string // of its parameters and result: (ILjava/lang/String;)V
	HasCode    bool   // it is neither abstract nor native
	Static     bool

	code span // the Code attribute: its content, without name and length
}

// span is a part of a class file.
type span struct{ from, to int }

// errCut is the error for a class that ends before it should.
var errCut = errors.New("it is cut short")

// reader reads big-endian numbers. After the end it gives zeros, and has an error.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.data)-r.at {
		r.err = errCut
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) u1() int {
	if b := r.take(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (r *reader) u2() int {
	if b := r.take(2); b != nil {
		return int(b[0])<<8 | int(b[1])
	}
	return 0
}

func (r *reader) u4() int {
	if b := r.take(4); b != nil {
		return int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	}
	return 0
}

const (
	magic      = 0xcafebabe
	withFrames = 50 // the first version of class files that has StackMapTable: Java 6
)

// Parse reads a class file. The class keeps the data.
func Parse(data []byte) (*Class, error) {
	c, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("reading a class: %w", err)
	}
	return c, nil
}

func parse(data []byte) (*Class, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(data), MaxSize)
	}
	r := &reader{data: data}
	if r.u4() != magic {
		return nil, errors.New("it is no class file")
	}
	r.u2()
	c := &Class{data: data, Old: r.u2() < withFrames}
	var err error
	if c.pool, err = readPool(r); err != nil {
		return nil, err
	}
	c.poolEnd = r.at
	r.u2() // access
	c.nameSlot = uint16(r.u2())
	name, ok := c.pool.class(int(c.nameSlot))
	if !ok {
		return nil, errors.New("it has no name")
	}
	c.Name = strings.ReplaceAll(name, "/", ".")
	r.u2() // superclass
	r.take(2 * r.u2())
	fields := r.u2()
	for i := 0; i < fields && r.err == nil; i++ {
		r.take(6)
		c.eachAttribute(r, func(string, span) error { return nil })
	}
	if err := c.readMethods(r); err != nil {
		return nil, err
	}
	if err := c.eachAttribute(r, c.classAttribute); err != nil {
		return nil, err
	}
	if r.err == nil && r.at != len(data) {
		r.err = errors.New("something follows its end")
	}
	return c, r.err
}

func (c *Class) readMethods(r *reader) error {
	n := r.u2()
	for i := 0; i < n && r.err == nil; i++ {
		access := r.u2()
		name, ok := c.pool.text(r.u2())
		descriptor, also := c.pool.text(r.u2())
		if !ok || !also {
			return errors.New("a method has no name")
		}
		m := Method{Name: name, Descriptor: descriptor, Static: access&accStatic != 0}
		err := c.eachAttribute(r, func(name string, s span) error {
			if name != "Code" {
				return nil
			}
			if m.HasCode {
				return fmt.Errorf("%s has two bodies", m.Name)
			}
			m.HasCode, m.code = true, s
			return nil
		})
		if err != nil {
			return err
		}
		c.Methods = append(c.Methods, m)
	}
	return r.err
}

func (c *Class) classAttribute(name string, s span) error {
	if name != "SourceFile" || s.to-s.from != 2 {
		return nil
	}
	c.Source, _ = c.pool.text(int(c.data[s.from])<<8 | int(c.data[s.from+1]))
	return nil
}

// eachAttribute reads a table of attributes.
func (c *Class) eachAttribute(r *reader, f func(name string, content span) error) error {
	n := r.u2()
	for i := 0; i < n; i++ {
		name, ok := c.pool.text(r.u2())
		size := r.u4()
		from := r.at
		r.take(size)
		if r.err != nil {
			return r.err
		}
		if !ok {
			return errors.New("an attribute has no name")
		}
		if err := f(name, span{from, r.at}); err != nil {
			return err
		}
	}
	return r.err
}
