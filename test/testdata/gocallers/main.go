// Gocallers has functions with known shares of the time, by their callers. Of 10 pieces of work, 6 are in mix
// called from put, at some depth, 3 in mix called from get, and 1 in small, which is inlined.
package main

const piece = 400_000

var sink uint64

//go:noinline
func mix(pieces int) {
	x := uint64(1)
	for range pieces * piece {
		x = x*6364136223846793005 + 1
	}
	sink = x
}

type shop struct{ pieces int }

//go:noinline
func (s *shop) put() { s.through(mix) }

//go:noinline
func (s *shop) through(f func(int)) { f(2 * s.pieces); sink++ }

//go:noinline
func (s *shop) get() { mix(s.pieces); sink++ }

func small() {
	x := uint64(1)
	for range piece {
		x = x*6364136223846793005 + 1
	}
	sink = x
}

//go:noinline
func visited() {}

func main() {
	s := &shop{3}
	for {
		s.put()
		s.get()
		small()
		visited()
	}
}
