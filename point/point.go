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
// To measure a latency, mark its begin and its end:
//
//	var request = point.NewPair("request")
//
//	request.Begin()
//	…
//	request.End()
//
// If the request goes from one goroutine to another, call BeginID and EndID instead.
//
// A visit adds one to a number in the program's own memory, whether the program is profiled or
// not. The profiler finds these numbers from outside, also in stripped programs: the program
// needs no setting, no start-up call and no other import.
package point

import (
	"sync/atomic"
	"unsafe"
)

// Most is the largest number of points in a program. Visits of further points are not counted.
const Most = 64

// shards is how many numbers a point has, so that cores do not contend for one.
const shards = 16

// mark lets the profiler check that it reads an entry.
const mark = 0x9d3f5a41c6e27b18

// entry is a point in the layout that the profiler reads: see bpf/base/shared.h.
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
	counts uint64 // in the first shard: the mark again
	_      [5]uint64
}

const (
	progress = 1 + iota
	begin
	end
)

// entries do not move. They have no pointers, so Go keeps them in .noptrbss.
var entries [Most]entry

// table leads the profiler to the entries: the profiler searches the program's file for the
// marker, in .noptrdata. So the table has no pointers, and is not zero before the program runs.
var table = struct {
	marker  [24]byte
	mark    uint64
	entries uintptr
	used    uint32
	shards  uint32
	stride  uint32
	_       uint32
}{
	marker: [24]byte{
		'w', 'h', 'a', 't', 'i', 'f', '/', 'p', 'o', 'i', 'n', 't', ':', ' ', 't', 'a', 'b', 'l', 'e', ',', ' ', '1', '\n',
	},
	mark:   mark,
	shards: shards,
	stride: uint32(unsafe.Sizeof(entry{})),
}

// Point is a progress point.
type Point struct{ e *entry }

// New makes a progress point. Points of the same name count together. If a name is longer than
// 111 bytes, only its end is used.
func New(name string) *Point { return &Point{newEntry(name, progress)} }

// Visit counts one more unit of useful work.
func (p *Point) Visit() { p.e.add() }

// Pair marks the begin and the end of something with a latency, such as a request.
type Pair struct{ begin, end *entry }

// NewPair makes the two points of a latency.
func NewPair(name string) *Pair { return &Pair{newEntry(name, begin), newEntry(name, end)} }

// Begin marks the begin of a request that ends in the same goroutine.
func (p *Pair) Begin() { p.begin.begins() }

// End marks the end of the goroutine's request.
func (p *Pair) End() { p.end.ends() }

// BeginID marks the begin of the request with an id. No two requests that are under way may have
// the same id.
func (p *Pair) BeginID(id uint64) { p.begin.beginsWith(id) }

// EndID marks the end of the request with an id, in any goroutine.
func (p *Pair) EndID(id uint64) { p.end.endsWith(id) }

// To measure latencies, the profiler attaches probes to these functions, which it finds by name.
// So they must not be inlined, nor start twice because their stack grows.

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

// add increments one of the point's numbers. The address of the goroutine's stack chooses which.
func (e *entry) add() {
	var here byte
	at := uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9e3779b97f4a7c15
	atomic.AddUint64(&e.shard[at>>60].count, 1)
}
