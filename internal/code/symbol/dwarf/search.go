package dwarf

import (
	"math"
	"slices"
)

// everyUnit calls visit for all units of code until visit returns false. It drops units as it goes.
func (d *Data) everyUnit(visit func(u *unit) bool) {
	d.startCall()
	for _, off := range d.scan(d.main, math.MaxUint64) {
		u := d.main.unitAt(off)
		if u == nil || u.kind == unitType || u.kind == unitSplitType {
			continue
		}
		d.trim()
		d.bytesLeft = maxKept
		if d.root(u); u.tag == tagPartialUnit {
			continue // common parts that dwz moved out of units
		}
		if !visit(u) || d.stepsLeft < 0 {
			return
		}
	}
}

// stepBytes is how many bytes of a path cost a step of work.
const stepBytes = 32

// Files calls visit with the path of every source file of every unit, until visit returns false. A path
// may come several times.
func (d *Data) Files(visit func(path string) bool) {
	seen := map[uint64]bool{}
	d.everyUnit(func(u *unit) bool {
		if !u.hasLines || seen[u.lines] {
			return true
		}
		seen[u.lines] = true
		h, ok := d.lineHeader(u)
		if !ok {
			return true
		}
		for i := range h.files {
			p := h.path(uint64(i))
			if d.spend(len(p) / stepBytes); !d.step() {
				return false
			}
			if p != "" && !visit(p) {
				return false
			}
		}
		return true
	})
}

// Lines returns the lines with code of the files that match, ascending. If a file has the wanted line,
// the search stops, and found is true. A line has code if an instruction belongs to it, or if a call on
// it was inlined.
func (d *Data) Lines(match func(path string) bool, want int) (lines []int, found bool) {
	have := map[int]bool{}
	d.unitsOf(match, func(u *unit, _ *lineHeader, files map[uint32]string) bool {
		d.linesOf(u, files, have)
		found = have[want]
		return !found
	})
	delete(have, 0)
	for l := range have {
		lines = append(lines, l)
	}
	slices.Sort(lines)
	return lines, found
}

// unitsOf calls visit for the units with matching files in their line tables, until visit returns false. files
// has the paths of these files by number.
func (d *Data) unitsOf(match func(path string) bool, visit func(u *unit, h *lineHeader, files map[uint32]string) bool) {
	d.everyUnit(func(u *unit) bool {
		if !u.hasLines {
			return true
		}
		h, ok := d.lineHeader(u)
		if !ok {
			return true
		}
		files := map[uint32]string{}
		for i := range h.files {
			p := h.path(uint64(i))
			if d.spend(len(p) / stepBytes); !d.step() {
				break
			}
			if p != "" && match(p) {
				d.keepBytes(64 + len(p))
				files[uint32(i)] = p
			}
		}
		return len(files) == 0 || visit(u, h, files)
	})
}

// maxLines bounds the lines that Lines returns.
const maxLines = 1 << 20

func (d *Data) linesOf(u *unit, files map[uint32]string, have map[int]bool) {
	if t := d.lineTable(u); t != nil {
		for _, r := range t.rows {
			if files[r.file] != "" && len(have) < maxLines {
				have[int(r.line)] = true
			}
		}
	}
	for _, s := range d.index(u).all {
		if s.parent >= 0 && files[s.callFile] != "" && len(have) < maxLines {
			have[int(s.callLine)] = true
		}
	}
}

// Functions calls visit with every function that has code of its own or was inlined, until visit returns
// false. A function may come several times.
func (d *Data) Functions(visit func(Call) bool) {
	d.everyUnit(func(u *unit) bool {
		x := d.index(u)
		type origin struct {
			class class
			off   uint64
		}
		seen := map[origin]bool{}
		for _, s := range x.all {
			o := origin{classRef, s.entry}
			if e, ok := d.entryAt(x.unit, s.entry); ok && e.abstractOrigin.class != classNone {
				// A function that was inlined a hundred times is named once.
				o = origin{e.abstractOrigin.class, e.abstractOrigin.n}
			}
			if seen[o] {
				continue
			}
			seen[o] = true
			if n := d.names(x.unit, s.entry, 0); !visit(Call{Name: n.name, Linkage: n.linkage, Within: n.within}) {
				return false
			}
		}
		return true
	})
}
