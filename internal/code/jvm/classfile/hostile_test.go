package classfile_test

import (
	"bytes"
	"errors"
	"testing"

	"whatif/internal/code/jvm/classfile"
)

// everywhere is a call at each place of a class that can be named.
func everywhere(c *classfile.Class) ([]classfile.Call, error) {
	var calls []classfile.Call
	add := func(places ...classfile.Place) {
		for _, p := range places {
			calls = append(calls, classfile.Call{Place: p, Class: "java/lang/X", Name: classfile.HelperMethod(len(calls) % 64)})
		}
	}
	var errs []error
	for i := range c.Methods {
		if c.Methods[i].HasCode {
			add(classfile.Entry(i))
			places, err := c.Returns(i)
			errs = append(errs, err)
			add(places...)
		}
	}
	for i, line := range c.Lines() {
		if i == 200 {
			break
		}
		places, err := c.Line(line)
		errs = append(errs, err)
		add(places...)
	}
	return calls, errors.Join(errs...)
}

// FuzzInsert: a hostile class is refused. A class that is not can be read again once calls are inserted.
func FuzzInsert(f *testing.F) {
	f.Add(classfile.Helper("java/lang/X", []uint64{1, 2, 3}))
	shapes := read(f, "testdata/Shapes.class") // from Shapes.java, by javac 17 with -g
	f.Add(shapes)
	for i := 1; i < 8; i++ {
		f.Add(shapes[:len(shapes)*i/8])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := classfile.Parse(data)
		if err != nil {
			return
		}
		calls, err := everywhere(c)
		if err != nil {
			return
		}
		changed, err := c.Insert(calls)
		if err != nil {
			return
		}
		again, err := classfile.Parse(changed)
		if err != nil {
			t.Fatalf("with %d calls: %v", len(calls), err)
		}
		if _, err := everywhere(again); err != nil {
			t.Fatalf("with %d calls: %v", len(calls), err)
		}
		if same, err := c.Insert(nil); err != nil || !bytes.Equal(same, data) {
			t.Fatalf("without a call the class is not the same: %v", err)
		}
	})
}

// TestHostile: every seventh byte of a class is damaged in turn. Nothing is worse than an error.
func TestHostile(t *testing.T) {
	shapes := read(t, "testdata/Shapes.class")
	refused := 0
	for i := 0; i < len(shapes); i += 7 {
		damaged := bytes.Clone(shapes)
		damaged[i] ^= 0x81
		c, err := classfile.Parse(damaged)
		if err == nil {
			var calls []classfile.Call
			if calls, err = everywhere(c); err == nil {
				_, err = c.Insert(calls)
			}
		}
		if err != nil {
			refused++
		}
	}
	if refused < len(shapes)/28 {
		t.Errorf("only %d of %d damaged classes were refused", refused, len(shapes)/7)
	}
}
