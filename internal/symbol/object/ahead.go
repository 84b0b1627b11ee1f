package object

import (
	"debug/elf"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// Ahead decompresses sections that will be asked for, all at the same time. Each is one
// stream, which one core has to go through, but there are several; and the one that takes
// the longest is then all there is to wait for.
func (f *File) Ahead(names ...string) {
	ends := make(map[*stream]uint64, len(names))
	for _, name := range names {
		if z := f.stream(name); z != nil {
			ends[z] = math.MaxUint64
		}
	}
	advance(ends)
}

// Together says which sections are needed at the same places: compilers and linkers write
// them unit by unit. As far as one of them has to be decompressed the others are, too,
// at the same time.
func (f *File) Together(names ...string) { f.together = names }

// advance decompresses streams, each so far.
func advance(ends map[*stream]uint64) {
	var all sync.WaitGroup
	for z, end := range ends {
		all.Go(func() {
			// A fault is a goroutine's own: see the caller's about damaged files.
			debug.SetPanicOnFault(true)
			defer func() {
				if r := recover(); r != nil {
					z.err = fmt.Errorf("damaged file: %v", r)
				}
			}()
			_ = z.upto(end) // the error is kept in z
		})
	}
	all.Wait()
}

// grow decompresses a section's stream, and those that go with it.
func (f *File) grow(name string, z *stream, end uint64) {
	ends := map[*stream]uint64{z: end}
	size := uint64(len(z.data))
	var others []string
	if size > 0 && slices.Contains(f.together, name) {
		others = f.together
	}
	for _, other := range others {
		if o := f.stream(other); o != nil && o != z {
			ends[o] = uint64(float64(len(o.data)) * float64(min(end+step, size)) / float64(size))
		}
	}
	advance(ends)
}

// Compressed reports whether a section has to be decompressed before it can be read.
func (f *File) Compressed(name string) bool {
	s := f.find(name)
	return s != nil && (s.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".z"))
}
