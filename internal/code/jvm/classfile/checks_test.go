package classfile

import (
	"bytes"
	"testing"
)

// TestChecks: the search through exception tables is bounded for a class, and not for each of its methods.
func TestChecks(t *testing.T) {
	code := append(bytes.Repeat([]byte{opNOP}, 8000), opRETURN)
	b := &body{code: code, starts: make([]bool, len(code)+1)}
	for at := range b.starts {
		b.starts[at] = true
	}
	for range 4000 { // the last of the code is never reached before a start
		b.catches = append(b.catches, catch{len(code) - 1, len(code), 0, 0})
	}
	checks := 0
	for range 1000 {
		if first := b.entered([]int{7000, 7500}, &checks); len(first) != 1 || first[0] != 7000 {
			t.Fatalf("%v is entered", first)
		}
	}
	if most := mostChecks + 1000*len(b.catches); checks < mostChecks || checks > most {
		t.Errorf("%d checks, at most %d are allowed", checks, most)
	}
}

// TestManyLines: a method has no more lines than it can have bytes, a few times over.
func TestManyLines(t *testing.T) {
	b := &body{code: []byte{opRETURN}, starts: []bool{true, true}}
	table := append2(nil, 1<<16-1)
	table = append(table, make([]byte, 4*(1<<16-1))...)
	for n := 1; n < 4; n++ {
		b.attributes = append(b.attributes, attribute{name: "LineNumberTable", content: table})
		b.lines = nil
		if err := b.readLines(); (err == nil) != (n <= 2) {
			t.Errorf("%d tables: %v", n, err)
		}
	}
}
