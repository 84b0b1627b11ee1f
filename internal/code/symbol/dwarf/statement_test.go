package dwarf

import (
	"testing"
	"time"
)

// TestManyStarts has a table of which every row is a beginning of one statement.
func TestManyStarts(t *testing.T) {
	const n = 300_000
	x := &index{all: []scope{{parent: -1}}}
	by := map[int32]*Statement{}
	files := map[uint32]string{1: "a.c"}
	began := time.Now()
	for i := range uint64(n) {
		m := mark{row: row{addr: i, file: 1, line: 5}, stmt: true}
		is := func(file, line uint32) bool { return file == 1 && line == 5 }
		x.collect(by, stretch{Range: Range{i, i + 1}, mark: m}, files, is)
	}
	s := by[0]
	s.endRuns()
	if len(s.Starts) != n || s.Starts[0].End != n || !s.Starts[0].AfterOther || s.Starts[1].AfterOther {
		t.Errorf("%d starts, the first %+v", len(s.Starts), s.Starts[0])
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
