// Go_workers is four workers that take jobs from a channel, of 0.2 ms and 0.3 ms, the target, and give results to
// another goroutine, which computes 0.1 ms for each.
//
// Truth: were the two cores always full a job would take (0.6 - 0.3s)/2 ms: 12.5, 25, 37.5, 50.
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

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	jobs, results := make(chan uint64, 8), make(chan uint64, 8)
	for range 4 {
		go func() {
			for x := range jobs {
				results <- target(run.Shrunk(300*bench.US), bench.Work(200*bench.US, x))
			}
		}()
	}
	go func() {
		for x := uint64(0); ; x++ {
			jobs <- x
		}
	}()
	for x := uint64(1); ; {
		x = bench.Work(100*bench.US, x+<-results)
		progressDone()
		run.Visit()
	}
}
