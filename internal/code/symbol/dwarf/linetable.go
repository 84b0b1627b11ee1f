package dwarf

import (
	"cmp"
	"slices"
)

// row gives the line of the code from addr up to the next row.
type row struct {
	addr uint64
	file uint32
	line uint32
}

// sequence is code that the line table describes without a gap, by rows[first:end].
type sequence struct {
	Range
	first, end int
}

const sequenceSize = 32 // bytes

// lineTable is a unit's sorted line table.
type lineTable struct {
	header *lineHeader
	rows   []row
	seqs   []sequence
	paths  map[uint32]string
}

func (t *lineTable) path(file uint32) string {
	p, ok := t.paths[file]
	if !ok {
		p = t.header.path(uint64(file))
		t.paths[file] = p
	}
	return p
}

// find returns the index of the row that covers an address, -1 if none does.
func (t *lineTable) find(pc uint64) (i int, seq sequence) {
	n, found := slices.BinarySearchFunc(t.seqs, pc, func(s sequence, a uint64) int { return cmp.Compare(s.Low, a) })
	if !found {
		n--
	}
	if n < 0 || pc >= t.seqs[n].High {
		return -1, sequence{}
	}
	seq = t.seqs[n]
	rows := t.rows[seq.first:seq.end]
	i, found = slices.BinarySearchFunc(rows, pc, func(r row, a uint64) int { return cmp.Compare(r.addr, a) })
	if !found {
		i--
	}
	return seq.first + i, seq
}

// place returns the file and line of an address. If the compiler gave the code no line (line 0), the
// result is the line before it in the same stretch, else the line after it: the compiler made the code
// for one of these, and a profile cannot use line 0. With KeepLineZero the result is line 0.
func (d *Data) place(t *lineTable, pc uint64, stretch Range) (file string, line int) {
	i, seq := t.find(pc)
	if i < 0 {
		return "", 0
	}
	r := t.rows[i]
	if r.line == 0 && !d.KeepLineZero {
		r = d.near(t, i, seq, stretch)
	}
	return t.path(r.file), int(r.line)
}

func (d *Data) near(t *lineTable, i int, seq sequence, stretch Range) row {
	for j := i - 1; j >= seq.first && t.rows[j].addr >= stretch.Low && d.step(); j-- {
		if t.rows[j].line != 0 {
			return t.rows[j]
		}
	}
	for j := i + 1; j < seq.end && t.rows[j].addr < stretch.High && d.step(); j++ {
		if t.rows[j].line != 0 {
			return t.rows[j]
		}
	}
	return t.rows[i]
}

// lineTable reads the unit's line table once.
func (d *Data) lineTable(u *unit) *lineTable {
	d.root(u)
	if !u.hasLines {
		return nil
	}
	if t, ok := d.lines[u.lines]; ok {
		return t
	}
	h, ok := d.lineHeader(u)
	if !ok {
		d.lines[u.lines] = nil
		return nil
	}
	t := &lineTable{header: h, paths: map[uint32]string{}}
	d.run(h, func(rows []row, end uint64) {
		if len(rows) == 0 || !d.live(Range{rows[0].addr, end}) {
			return
		}
		first := len(t.rows)
		t.rows = append(t.rows, rows...)
		t.seqs = append(t.seqs, sequence{Range{rows[0].addr, end}, first, len(t.rows)})
	})
	slices.SortFunc(t.seqs, func(a, b sequence) int { return cmp.Compare(a.Low, b.Low) })
	t.rows = slices.Clip(t.rows)
	h.program = cursor{}
	d.lines[u.lines] = t
	d.weight += len(t.rows) + len(h.files)
	return t
}
