// Go_channels is a producer and a consumer with a small buffered channel between them. The producer works 2 ms
// an item (the target), the consumer 1.2 ms.
//
// Truth: an item takes max(2(1-s), 1.2) ms: 25, 40, 40, 40.
package main

import (
	"runtime"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

// The work is in the loop's post statement, so that gofmt leaves all of it on one line.

//go:noinline
func produce(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	items := make(chan uint64, 2)
	go func() {
		for x := uint64(1); ; items <- x {
			x = produce(run.Shrunk(2000*bench.US), x)
		}
	}()
	for item := range items {
		bench.Work(1200*bench.US, item)
		progressDone()
		run.Visit()
	}
}
