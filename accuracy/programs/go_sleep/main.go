// Go_sleep is one goroutine that sleeps 4 ms and computes 6 ms. No thread sleeps in its line: those wait in Go's
// scheduler.
//
// Truth by arithmetic: a gain of 10, 20, 30, 40%.
package main

import (
	"time"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

// The work is in the loop's post statement, so that gofmt leaves all of it on one line.

//go:noinline
func compute(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 {
	}
	return x
}

func main() {
	run := bench.Start()
	for x := uint64(1); ; {
		time.Sleep(time.Duration(run.Shrunk(4000)) * time.Microsecond) // TARGET
		x = compute(6000*bench.US, x)
		progressDone()
		run.Visit()
	}
}
