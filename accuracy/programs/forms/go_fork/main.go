// Go_fork starts six goroutines each round and waits for them: three of 0.2 ms, three of 0.1 ms and 0.3 ms, the target.
//
// Truth: were the two cores always full a round would take (1.8 - 0.9s)/2 ms: 12.5, 25, 37.5, 50, and starting.
package main

import (
	"runtime"
	"sync"

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

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	var results [6]struct {
		x uint64
		_ [56]byte // a cache line each
	}
	for {
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				if i%2 == 0 {
					results[i].x = bench.Work(200*bench.US, 1)
				} else {
					results[i].x = target(run.Shrunk(300*bench.US), bench.Work(100*bench.US, 1))
				}
			})
		}
		all.Wait()
		progressDone()
		run.Visit()
	}
}
