// Go_garbage is four goroutines. Each makes a list of 5000 nodes, keeps the last 64 lists, and computes 0.4 ms, the
// target. The garbage collector runs often, and beside them.
//
// Truth: measured only, as the collector decides when it runs.
package main

import (
	"runtime"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

// The work is in the loop's post statement, so that gofmt leaves all of it on one line.

//go:noinline
func target(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

type node struct {
	next *node
	data [6]uint64
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	done := make(chan uint64, 64)
	for range 4 {
		go func() {
			var keep [64]*node
			for x, k := uint64(0), 0; ; k++ {
				var list *node
				for i := range 5000 {
					list = &node{next: list, data: [6]uint64{uint64(i)}}
				}
				if old := keep[k%64]; old != nil {
					x += old.data[0]
				}
				keep[k%64] = list
				x = target(run.Shrunk(400*bench.US), x)
				done <- x
			}
		}()
	}
	for range done {
		progressDone()
		run.Visit()
	}
}
