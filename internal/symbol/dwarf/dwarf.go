// Package dwarf answers one question about a binary with debug information:
// which source line is the instruction at this address, in which function, and
// through which inlined calls did it get there?
//
// It reads DWARF 2 to 5 itself, because debug/dwarf of the standard library
// cannot do what a profiler needs: New there reads every abbreviation table of
// the binary, allocates for each attribute of each entry, believes counts that
// the file states (a hostile line table header makes it allocate any amount),
// and it has no notion of an inline chain. Here nothing is read until an
// address is looked up, then only the unit that holds it, and that unit's
// answers are kept as two sorted arrays: address → line, address → scope.
//
// It is not a general DWARF reader: types, variables and locations are skipped.
// It is little-endian (x86-64, arm64). The files that the sections refer to, of
// split DWARF and dwz, are opened through Beside; without them lines are found
// and some names are not.
//
// The sequence of calls is New, then Lookup as often as wanted; Files, Lines
// and Functions search all units and cost time in proportion to the debug
// information. A Data is not safe for concurrent use. Damaged input costs an
// answer: the work of a call and the memory kept stay below a small multiple of
// the input; sections that
// are mapped from a file that shrinks fault, and that is the caller's to catch.
package dwarf

import (
	"cmp"
	"slices"
)

// A Range is a half-open interval of addresses.
type Range struct{ Low, High uint64 }

// Sections is the sections of one file.
type Sections interface {
	// Section gives a section's bytes by its name without the leading ".debug_",
	// nil when there is none. Those from end on may be zeros: of a compressed section
	// they need not be read yet. It is asked again with a higher end.
	Section(name string, end uint64) []byte
	// Touch notes that n bytes in a row were read, so that what is no longer
	// needed in memory can be let go of.
	Touch(n uint64)
}

// A Call is one level of an inline chain: a place, and the function around it.
type Call struct {
	// Name is the function's name as DWARF has it, qualified by namespaces and
	// classes where there is no linkage name to tell them.
	Name string
	// Linkage is the mangled name, empty for languages without one.
	Linkage string
	File    string
	// Line is 0 where the compiler attributes the code to no line.
	Line int
	// Low is where the function's (or inlined body's) first range starts.
	Low uint64
}

// Data is the debug information of one binary.
type Data struct {
	main   *source
	text   []Range // executable sections: what lies outside is dead code
	beside Beside

	alternate      *source
	alternateTried bool
	pack           *pack
	packageTried   bool
	skeletons      []*unit // whose .dwo files are open

	abbrevs map[abbrevKey]abbrevs
	byRange *unitRanges
	indexes map[*unit]*index
	lines   map[uint64]*lineTable // by offset in .debug_line
	weight  int                   // what indexes and lines hold, in entries
	fuel    int                   // what is left of the current call's work
	given   int                   // fuel of the current call
	tank    int                   // what calls may take beyond their own share; see refuel
	filled  bool                  // tank has been
	room    int                   // what the current call, or its current unit, may still keep, in bytes

	// KeepLineZero makes Lookup say line 0 where the compiler did, for
	// comparison with other readers.
	KeepLineZero bool
}

// maxWeight bounds what stays in memory: at 16 bytes an entry, 64 MiB. Units
// beyond it push everything out; what is sampled is read again.
const maxWeight = 4 << 20

// New prepares to read the sections of a file. Only code inside text is
// believed to exist: linkers leave the debug information of functions that
// they discarded in place, at addresses 0, 1 or -1.
//
// beside may be nil.
func New(sections Sections, text []Range, beside Beside) *Data {
	text = slices.Clone(text)
	slices.SortFunc(text, func(a, b Range) int { return cmp.Compare(a.Low, b.Low) })
	d := &Data{main: newSource(sections, ""), text: text, beside: beside}
	d.forget()
	return d
}

// forget drops what was read of single units, and their .dwo files.
func (d *Data) forget() {
	if len(d.skeletons) > 0 {
		for _, u := range d.skeletons {
			u.split, u.splitTried = nil, false
		}
		d.skeletons = nil
		d.beside.Forget()
	}
	d.abbrevs = map[abbrevKey]abbrevs{}
	d.indexes = map[*unit]*index{}
	d.lines = map[uint64]*lineTable{}
	d.weight = 0
}

const (
	// least is the work that a call may do on a file of any size, in steps: some milliseconds.
	least = 1 << 20
	// share is the work of each call that is not counted together with that of others: most units take less.
	share = 1 << 16
	// maxWork bounds one call, however large the sections are: some seconds. Three gigabytes of real
	// debug information take as much.
	maxWork = 1 << 30
	// readings is how often all debug information may be read beyond the shares of calls. What was pushed out of
	// memory is read again, so once is not enough.
	readings = 4
	// splitWork is what to open a .dwo file counts for.
	splitWork = 1 << 12
	// maxRoom bounds what is kept of one unit while it is read, in bytes: two million rows of a line table. A
	// slice that grows takes twice as much at times.
	maxRoom = 64 << 20
)

// refuel starts a call. Real files refer to each list, table and string about
// once; hostile ones refer a million times to the same long one. What a call
// may read in all is therefore bounded by the size of the sections. And all calls
// together take no more than a few readings of the sections beyond a share each: or else a
// small file whose every place costs as much as all of it would occupy the caller for ever.
func (d *Data) refuel() {
	whole := least + d.main.worth()
	if d.alternate != nil {
		whole += d.alternate.worth()
	}
	if d.pack != nil {
		whole += d.pack.src.worth()
	}
	for _, u := range d.skeletons {
		if d.pack == nil || u.split.src != d.pack.src {
			whole += u.split.src.worth()
		}
	}
	whole = min(whole, maxWork)
	if !d.filled {
		d.filled, d.tank = true, readings*whole
	} else {
		d.tank -= max(0, d.given-max(d.fuel, 0)-share)
	}
	d.given = min(whole, max(d.tank, share))
	d.fuel = d.given
	d.room = maxRoom
}

// another makes what a call may do include reading of another file's sections, which was found.
func (d *Data) another(s *source) {
	n := min(s.worth(), maxWork-min(d.given, maxWork))
	if d.tank > 0 {
		d.given, d.fuel = d.given+n, d.fuel+n
	}
}

// GaveUp reports whether reading took more work than the files are worth, so that what else is asked may
// have no answer.
func (d *Data) GaveUp() bool { return d.filled && d.tank-max(0, d.given-max(d.fuel, 0)-share) <= share }

// took notes that memory was taken for what is kept of a unit. Where there is no room left, burn ends
// the reading.
func (d *Data) took(bytes int) { d.room -= bytes }

// spend takes several steps of work.
func (d *Data) spend(steps int) { d.fuel -= steps }

// tidy stands where nothing is held of what forget drops.
func (d *Data) tidy() {
	if d.weight > maxWeight || len(d.skeletons) >= maxSplit {
		d.forget()
	}
}

// burn takes one step of work and reports whether it may be done.
func (d *Data) burn() bool {
	d.fuel--
	return d.fuel >= 0 && d.room >= 0
}

// live reports whether code at r can exist.
func (d *Data) live(r Range) bool {
	if r.Low >= r.High {
		return false
	}
	i, found := slices.BinarySearchFunc(d.text, r.Low, func(t Range, a uint64) int { return cmp.Compare(t.Low, a) })
	if !found {
		i--
	}
	return i >= 0 && r.Low < d.text[i].High && r.High <= d.text[i].High
}
