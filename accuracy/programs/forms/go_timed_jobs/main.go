// Go_timed_jobs is timed_jobs with goroutines. One sleeps 3 ms, hands a job to another, and sleeps again. The job takes
// 0.5 ms, and 1 ms, the target.
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
	runtime.GOMAXPROCS(2)
	jobs := make(chan uint64, 64)
	go func() {
		for job := range jobs {
			compute(run.Shrunk(1000*bench.US), bench.Work(500*bench.US, job))
			progressDone()
			run.Visit()
		}
	}()
	for n := uint64(1); ; n++ {
		time.Sleep(3 * time.Millisecond)
		jobs <- n
	}
}
