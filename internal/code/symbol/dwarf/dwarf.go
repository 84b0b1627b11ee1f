// Package dwarf maps addresses to code by a binary's debug information: to the instruction's source line,
// its function, and the inlined calls around it.
//
// Call New, then Lookup for each address. Files, Lines, Statements and Functions search all units, and
// take time in proportion to the debug information. A Data is not safe for concurrent use.
//
// The package reads DWARF 2 to 5 itself, because the standard library's debug/dwarf cannot do what a
// profiler needs. Its New reads every abbreviation table of the binary. It allocates for each attribute
// of each entry. It trusts counts in the file, so a hostile line table header makes it allocate any
// amount. It does not know inline chains. Here a look-up reads only the unit that contains the address,
// and keeps two sorted arrays for it: address → line, address → scope.
//
// The package is no general DWARF reader: it skips types, variables and locations. It reads
// little-endian sections (x86-64, arm64). The files of split DWARF and dwz are opened through
// OtherFiles; without them lines are found, but some names are not.
//
// Damaged input costs an answer. The work of a call and the memory that is kept stay below a small
// multiple of the input. If a mapped file shrinks, reading faults, which the caller must catch.
package dwarf

import (
	"cmp"
	"slices"
)

// Range is a half-open interval of addresses.
type Range struct{ Low, High uint64 }

// Sections are the sections of one file.
type Sections interface {
	// Section returns a section's bytes, nil if there is none. The name lacks the leading ".debug_".
	// Bytes from end on may be zeros, because a compressed section need not be decompressed any
	// further. A later call with a higher end returns more.
	Section(name string, end uint64) []byte
	// Touch says that n bytes in a row were read, so that memory can be released.
	Touch(n uint64)
}

// Call is one level of an inline chain: a line, and the function around it.
type Call struct {
	// Name is the function's name in DWARF. Without a linkage name it is qualified by namespaces and
	// classes.
	Name string
	// Linkage is the mangled name, empty for languages without one.
	Linkage string
	// Within is the linkage name of the function around an unnamed type, such as a lambda's: Name begins inside of it.
	Within string
	File   string
	// Line is 0 if the compiler gives the code no line.
	Line int
	// Low is the start of the first range of the function, or of the inlined body.
	Low uint64
	// DeclFile and DeclLine are where the function is declared; "" and 0 if that is not known.
	DeclFile string
	DeclLine int
}

// Data is the debug information of one binary.
type Data struct {
	main   *source
	text   []Range // executable sections: code outside of them is dead
	others OtherFiles

	alternate      *source
	alternateTried bool
	pack           *pack
	packageTried   bool
	skeletons      []*unit // with an open .dwo file

	abbrevs map[abbrevKey]abbrevs
	byRange *unitRanges
	indexes map[*unit]*index
	lines   map[uint64]*lineTable     // by offset in .debug_line
	headers map[headerKey]*lineHeader // of tables that are read for their files only; nil: damaged
	weight  int                       // entries in indexes, lines and headers

	// See startCall.
	stepsLeft  int  // of the current call
	stepsGiven int  // to the current call
	reserve    int  // steps that calls may take beyond callShare
	started    bool // reserve is set
	bytesLeft  int  // that the current call, or its current unit, may still keep

	// KeepLineZero makes Lookup return line 0 where the compiler did. It serves to compare the answers
	// with those of other readers.
	KeepLineZero bool
}

// maxWeight bounds the entries in memory: 64 MiB at 16 bytes an entry. If there are more, all are
// dropped; units that are sampled are read again.
const maxWeight = 4 << 20

// New prepares to read the sections of a file. Only code inside text exists: linkers keep the debug
// information of functions that they discarded, with addresses 0, 1 or -1. others may be nil.
func New(sections Sections, text []Range, others OtherFiles) *Data {
	text = slices.Clone(text)
	slices.SortFunc(text, func(a, b Range) int { return cmp.Compare(a.Low, b.Low) })
	d := &Data{main: newSource(sections, ""), text: text, others: others}
	d.forget()
	return d
}

// forget drops what was read of single units, and closes their .dwo files.
func (d *Data) forget() {
	if len(d.skeletons) > 0 {
		for _, u := range d.skeletons {
			u.split, u.splitTried = nil, false
		}
		d.skeletons = nil
		d.others.Forget()
	}
	d.abbrevs = map[abbrevKey]abbrevs{}
	d.indexes = map[*unit]*index{}
	d.lines = map[uint64]*lineTable{}
	d.headers = map[headerKey]*lineHeader{}
	d.weight = 0
}

// Bounds of work, in steps of reading, and of memory.
const (
	// minWork is the work that a call may do on a file of any size: some milliseconds.
	minWork = 1 << 20
	// callShare is the work of a call that is not taken from the reserve. Most units need less.
	callShare = 1 << 16
	// maxWork bounds one call on sections of any size: some seconds. Three gigabytes of real debug
	// information take as much.
	maxWork = 1 << 30
	// maxReadings is how often the reserve suffices to read all debug information. Units that were
	// dropped from memory are read again, so once is not enough.
	maxReadings = 4
	// splitWork is the work of opening a .dwo file.
	splitWork = 1 << 12
	// maxKept bounds the bytes that are kept of one unit: two million rows of a line table. A slice
	// that grows takes twice as much for a moment.
	maxKept = 64 << 20
)

// startCall gives a call its steps. Real files refer to each list, table and string about once, but a
// hostile file may refer to the same long one a million times. So the size of the sections bounds the
// work of a call. The reserve bounds the work of all calls together: otherwise a small file of which
// each place costs a reading of the whole would keep the caller busy forever.
func (d *Data) startCall() {
	whole := minWork + d.main.work()
	if d.alternate != nil {
		whole += d.alternate.work()
	}
	if d.pack != nil {
		whole += d.pack.src.work()
	}
	for _, u := range d.skeletons {
		if d.pack == nil || u.split.src != d.pack.src {
			whole += u.split.src.work()
		}
	}
	whole = min(whole, maxWork)
	if !d.started {
		d.started, d.reserve = true, maxReadings*whole
	} else {
		d.reserve -= d.beyondShare()
	}
	d.stepsGiven = min(whole, max(d.reserve, callShare))
	d.stepsLeft = d.stepsGiven
	d.bytesLeft = maxKept
}

// beyondShare returns the steps that the current call has taken beyond its share.
func (d *Data) beyondShare() int { return max(0, d.stepsGiven-max(d.stepsLeft, 0)-callShare) }

// addWork adds the work of reading another file's sections to the current call's steps.
func (d *Data) addWork(s *source) {
	n := min(s.work(), maxWork-min(d.stepsGiven, maxWork))
	if d.reserve > 0 {
		d.stepsGiven, d.stepsLeft = d.stepsGiven+n, d.stepsLeft+n
	}
}

// GaveUp reports whether the reserve is used up, so that later calls may return no answer.
func (d *Data) GaveUp() bool { return d.started && d.reserve-d.beyondShare() <= callShare }

// keepBytes records that memory of a unit is kept. If too much is kept, step ends the reading.
func (d *Data) keepBytes(bytes int) { d.bytesLeft -= bytes }

// spend takes several steps of work.
func (d *Data) spend(steps int) { d.stepsLeft -= steps }

// trim calls forget if too much is kept. The caller must hold nothing that forget drops.
func (d *Data) trim() {
	if d.weight > maxWeight || len(d.skeletons) >= maxSplit {
		d.forget()
	}
}

// step takes one step of work, and reports whether it may be done.
func (d *Data) step() bool {
	d.stepsLeft--
	return d.stepsLeft >= 0 && d.bytesLeft >= 0
}

// live reports whether code at r exists.
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
