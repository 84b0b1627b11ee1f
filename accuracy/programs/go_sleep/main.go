// Go_sleep is one goroutine that sleeps 4 ms and computes 6 ms. No thread sleeps in its line: threads wait in
// Go's scheduler.
//
// Truth by arithmetic: a gain of 10, 20, 30, 40%.
package main

import (
	"time"

	"whatif/accuracy/programs/bench"
)

//go:noinline
func progressDone() {}

func main() {
	run := bench.Start()
	for x := uint64(1); ; {
		time.Sleep(time.Duration(run.Shrunk(4000)) * time.Microsecond) // TARGET
		x = bench.Work(6000*bench.US, x)
		progressDone()
		run.Visit()
	}
}
