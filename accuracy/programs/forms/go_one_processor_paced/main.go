// Go_one_processor_paced has three goroutines on one processor of Go's. One sleeps 3 ms and hands a job of 1 ms, the
// target, to another, which makes the progress. The third keeps the processor busy in what is left.
//
// Truth by arithmetic: 0, as no job comes earlier.
package main

import (
	"runtime"
	"time"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

// The work is in the loop's post statement, so that gofmt leaves all of it on one line.

//go:noinline
func compute(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(1)
	jobs := make(chan uint64, 64)
	go func() {
		for job := range jobs {
			compute(run.Shrunk(1000*bench.US), job)
			progressDone()
			run.Visit()
		}
	}()
	go func() {
		for n := uint64(1); ; n++ {
			time.Sleep(3 * time.Millisecond)
			jobs <- n
		}
	}()
	for x := uint64(1); ; runtime.Gosched() {
		x = bench.Work(200*bench.US, x)
	}
}
