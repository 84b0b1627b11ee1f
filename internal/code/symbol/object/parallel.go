package object

import (
	"debug/elf"
	"math"
	"slices"
	"strings"
	"sync"
)

// Decompress decompresses sections that will be needed, in parallel. Each is one stream, which takes one
// core; the call takes as long as the slowest.
func (f *File) Decompress(names ...string) {
	ends := make(map[*stream]uint64, len(names))
	for _, name := range names {
		if z := f.stream(name); z != nil {
			ends[z] = math.MaxUint64
		}
	}
	advance(ends)
}

// DecompressTogether names sections that are needed together: compilers and linkers write them unit by
// unit. When one of them is decompressed up to a part of its size, the others are decompressed in
// parallel up to the same part.
func (f *File) DecompressTogether(names ...string) { f.together = names }

// advance decompresses streams in parallel, each up to an offset.
func advance(ends map[*stream]uint64) {
	var all sync.WaitGroup
	for z, end := range ends {
		all.Go(func() {
			// The caller's handling of faults in a damaged file does not cover this goroutine.
			defer Guard("", &z.err)()
			_ = z.upto(end) // the error is kept in z
		})
	}
	all.Wait()
}

// grow decompresses a section's stream, and those that are needed with it.
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

// Compressed reports whether a section must be decompressed before it can be read.
func (f *File) Compressed(name string) bool {
	s := f.find(name)
	return s != nil && (s.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".z"))
}
