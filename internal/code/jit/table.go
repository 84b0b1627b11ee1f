package jit

import (
	"slices"
	"sort"

	"whatif/internal/code/symbol"
)

// Body is the code of one function, as its runtime has written it down. It does not change, but for MendLoops.
type Body struct {
	Function
	// lines are offsets from the beginning of the code, ascending, each with the line from there on; none: the lines are
	// not known.
	lines []line

	base   uint64 // the address of the code's beginning
	size   uint64 // where a HotSpot has put it there
	java   bool
	blunt  uint64 // see Blunt
	sites  int    // that its lines have
	mended bool   // see MendLoops
	paid   int64  // what it has taken of the budget
	pieces int    // how many pieces of a table are still this code
}

type line struct {
	offset uint64
	at     *site // of a Java method, instead of line
	line   int32
	call   bool // it is noted for a call that is inlined elsewhere in the code: see MendLoops
}

// Frames returns the code at an address of the body: the innermost inlined function first, the body's own last.
func (b *Body) Frames(address uint64) []symbol.Frame {
	f := symbol.Frame{Func: b.Full, Short: b.Name, File: b.File}
	// The last line that begins at or before the address.
	if i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].offset > address-b.base }); i > 0 {
		if at := b.lines[i-1].at; at != nil {
			return at.frames()
		}
		f.Line = int(b.lines[i-1].line)
	}
	return []symbol.Frame{f}
}

// Origin is the origin of the body's code in a program.
func (b *Body) Origin(program string) symbol.Origin {
	return symbol.Origin{Path: program, Generated: true, Outside: b.Outside, Java: b.java}
}

// cost is what a body takes of a Budget, in bytes: more than it really takes.
func (b *Body) cost() int64 {
	return int64(200+len(b.Name)+len(b.Full)+len(b.File)) + costOfLine*int64(len(b.lines)) + costOfSite*int64(b.sites)
}

const (
	costOfLine = 24
	costOfSite = 120
)

// Budget is the memory that the tables of all processes may take. A process can claim any amount of code.
type Budget struct{ Left int64 }

// DefaultBudget is enough for a million functions.
const DefaultBudget = 256 << 20

// Table has the code that a process has made, by address. The newest entry for an address counts: runtimes move code,
// and put other code where some was. The zero Table is not usable: see NewTable.
type Table struct {
	budget *Budget
	// All pieces, ascending, without overlaps, cut into chunks of at most mostPieces, so that an insertion moves few of
	// them.
	chunks [][]piece
	full   bool
	names  int64 // what the names of methods take of the budget, apart from code: see HotSpot
}

const mostPieces = 512

type piece struct {
	start, end uint64
	body       *Body
}

// NewTable makes an empty table.
func NewTable(b *Budget) *Table { return &Table{budget: b} }

// Full reports whether code was left out because there was no memory for it.
func (t *Table) Full() bool { return t.full }

// Find returns the code at an address, nil if there is none.
func (t *Table) Find(address uint64) *Body {
	c := t.chunk(address)
	if c < 0 {
		return nil
	}
	pieces := t.chunks[c]
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].start > address }) - 1
	if i < 0 || address >= pieces[i].end {
		return nil
	}
	return pieces[i].body
}

// overlaps reports whether there is code between two addresses.
func (t *Table) overlaps(start, end uint64) bool {
	c := t.chunk(end - 1)
	if c < 0 {
		return false
	}
	pieces := t.chunks[c]
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].start >= end }) - 1
	return i >= 0 && pieces[i].end > start
}

// chunk is the index of the last chunk that begins at or before an address, -1 if none does.
func (t *Table) chunk(address uint64) int {
	return sort.Search(len(t.chunks), func(i int) bool { return t.chunks[i][0].start > address }) - 1
}

// add puts code at an address, instead of what was there.
func (t *Table) add(start, size uint64, b *Body) {
	end := start + size
	if size == 0 || end < start {
		return
	}
	t.cut(start, end)
	b.base = start
	if t.budget.Left < b.cost() {
		t.full = true
		return
	}
	b.paid = b.cost()
	t.budget.Left -= b.paid
	b.pieces = 1
	t.insert(piece{start, end, b})
}

// move puts the code that begins at one address to another one.
func (t *Table) move(from, to, size uint64) {
	b := t.Find(from)
	if b == nil || b.base != from {
		return
	}
	moved := *b
	t.cut(from, from+size)
	t.add(to, size, &moved)
}

// cut removes what is known of a range of addresses.
func (t *Table) cut(start, end uint64) {
	if end <= start {
		return
	}
	first := max(0, t.chunk(start))
	last := first
	for last < len(t.chunks) && t.chunks[last][0].start < end {
		last++
	}
	var kept [][]piece
	for _, pieces := range t.chunks[first:last] {
		if rest := t.cutChunk(pieces, start, end); len(rest) > 0 {
			kept = append(kept, rest)
		}
	}
	t.chunks = slices.Replace(t.chunks, first, last, kept...)
}

func (t *Table) cutChunk(pieces []piece, start, end uint64) []piece {
	from := sort.Search(len(pieces), func(i int) bool { return pieces[i].end > start })
	to := from
	var rest []piece
	for to < len(pieces) && pieces[to].start < end {
		p := pieces[to]
		to++
		p.body.pieces--
		for _, left := range []piece{{p.start, start, p.body}, {end, p.end, p.body}} {
			if left.start < left.end {
				rest = append(rest, left)
				p.body.pieces++
			}
		}
		if p.body.pieces == 0 {
			t.budget.Left += p.body.paid
		}
	}
	if from == to {
		return pieces
	}
	return slices.Replace(pieces, from, to, rest...)
}

func (t *Table) insert(p piece) {
	c := t.chunk(p.start)
	if c < 0 {
		if len(t.chunks) == 0 {
			t.chunks = [][]piece{{p}}
			return
		}
		c = 0
	}
	pieces := t.chunks[c]
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].start > p.start })
	pieces = slices.Insert(pieces, i, p)
	t.chunks[c] = pieces
	if half := len(pieces) / 2; len(pieces) > mostPieces {
		t.chunks[c] = slices.Clip(pieces[:half])
		t.chunks = slices.Insert(t.chunks, c+1, slices.Clone(pieces[half:]))
	}
}

// clear forgets all code.
func (t *Table) clear() { t.cut(0, ^uint64(0)) }

// Close gives back the memory.
func (t *Table) Close() {
	t.clear()
	t.budget.Left += t.names
	t.names = 0
}
