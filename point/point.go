// Package point marks progress points in the source of a Go program, for the profiler
// whatif:
//
//	var requests = point.New("requests")
//
//	func handle(…) {
//		…
//		requests.Visit() // one more unit of useful work is done
//	}
//
// and, where the latency of something matters, where it begins and ends:
//
//	var request = point.NewPair("request")
//
//	request.Begin()
//	…
//	request.End()
//
// or BeginID and EndID, where a request goes from one goroutine to another.
//
// A visit adds one to a number in the program's own memory, whether it is profiled or
// not. The profiler finds these numbers from outside, also in stripped programs; nothing
// has to be set or started, and there is nothing else to import.
package point

import (
	"sync/atomic"
	"unsafe"
)

// Most is how many points a program can have. Visits of those beyond are not seen.
const Most = 64

// shards are the numbers of a point, so that cores do not fight for one.
const shards = 16

// mark tells the reader that it reads what it means to.
const mark = 0x9d3f5a41c6e27b18

// entry is a point, as the profiler reads it: bpf/base/shared.h in whatif's source.
type entry struct {
	mark   uint64 // set when the name is complete
	event  uint32
	length uint32
	name   [112]byte
	shard  [shards]shard
}

// shard is a cache line.
type shard struct {
	count  uint64
	_      uint64
	counts uint64 // of the first: the mark again
	_      [5]uint64
}

const (
	progress = 1 + iota
	begin
	end
)

// entries do not move, and hold no pointers: Go keeps them in a section of their own.
var entries [Most]entry

// table is how the profiler finds the entries: it looks for the marker in the program's
// file. So it must have no pointers, and not be empty before the program runs.
var table = struct {
	marker  [24]byte
	mark    uint64
	entries uintptr
	used    uint32
	shards  uint32
	stride  uint32
	_       uint32
}{
	marker: [24]byte{'w', 'h', 'a', 't', 'i', 'f', '/', 'p', 'o', 'i', 'n', 't', ':', ' ', 't', 'a', 'b', 'l', 'e', ',', ' ', '1', '\n'},
	mark:   mark,
	shards: shards,
	stride: uint32(unsafe.Sizeof(entry{})),
}

// Point is a progress point.
type Point struct{ e *entry }

// New makes a progress point of a name; several of one name are one point. Of a name of
// more than 111 bytes the end is used.
func New(name string) *Point { return &Point{newEntry(name, progress)} }

// Visit says that one more unit of useful work is done.
func (p *Point) Visit() { p.e.add() }

// Pair is where something begins and ends.
type Pair struct{ begin, end *entry }

// NewPair makes the two points of a name.
func NewPair(name string) *Pair { return &Pair{newEntry(name, begin), newEntry(name, end)} }

// Begin says that one has begun, which ends in the same goroutine.
func (p *Pair) Begin() { p.begin.begins() }

// End says that one has ended.
func (p *Pair) End() { p.end.ends() }

// BeginID says that the one with an id has begun, which is different from those of all
// others that are under way.
func (p *Pair) BeginID(id uint64) { p.begin.beginsWith(id) }

// EndID says that the one with an id has ended, in whatever goroutine.
func (p *Pair) EndID(id uint64) { p.end.endsWith(id) }

// A profiler that has to know the moment puts probes on these functions, which it finds by
// their names. So they must not be inlined, nor be begun twice because the stack has to
// grow.

//go:noinline
//go:nosplit
func (e *entry) begins() { e.add() }

//go:noinline
//go:nosplit
func (e *entry) ends() { e.add() }

//go:noinline
//go:nosplit
func (e *entry) beginsWith(uint64) { e.add() }

//go:noinline
//go:nosplit
func (e *entry) endsWith(uint64) { e.add() }

func newEntry(name string, event uint32) *entry {
	n := atomic.AddUint32(&table.used, 1) - 1
	if n >= Most {
		atomic.StoreUint32(&table.used, Most)
		return new(entry)
	}
	e := &entries[n]
	name = name[len(name)-min(len(name), len(e.name)-1):]
	e.event = event
	e.length = uint32(copy(e.name[:], name))
	atomic.StoreUint64(&e.mark, mark)
	atomic.StoreUint64(&e.shard[0].counts, mark)
	atomic.StoreUintptr(&table.entries, uintptr(unsafe.Pointer(&entries)))
	return e
}

// add counts in the number of the goroutine: which one that is, is told by where its
// stack is.
func (e *entry) add() {
	var here byte
	at := uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9e3779b97f4a7c15
	atomic.AddUint64(&e.shard[at>>60].count, 1)
}
