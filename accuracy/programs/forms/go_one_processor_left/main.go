// Go_one_processor_left has three goroutines on one processor of Go's. One sleeps 3 ms and hands a job of 1 ms to
// another. The third makes the progress in what is left, 0.2 ms at a time, of which half is the target.
//
// Truth by arithmetic: 12.5, 25, 37.5 and 50.
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
			bench.Work(1000*bench.US, job)
		}
	}()
	go func() {
		for n := uint64(1); ; n++ {
			time.Sleep(3 * time.Millisecond)
			jobs <- n
		}
	}()
	for x := uint64(1); ; runtime.Gosched() {
		x = compute(run.Shrunk(100*bench.US), bench.Work(100*bench.US, x))
		progressDone()
		run.Visit()
	}
}
