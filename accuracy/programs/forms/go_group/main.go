// Go_group starts four goroutines in each round, of 0.5 ms and 0.5 ms, the target, and waits for all of them with a
// WaitGroup.
//
// Truth: were the two cores always full a round would take 4(1 - 0.5s)/2 ms: 12.5, 25, 37.5, 50.
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
	var out [4]uint64
	for {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { out[i] = target(run.Shrunk(500*bench.US), bench.Work(500*bench.US, out[i])) })
		}
		wg.Wait()
		progressDone()
		run.Visit()
	}
}
