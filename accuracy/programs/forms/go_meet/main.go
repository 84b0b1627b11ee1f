// Go_meet is two goroutines that meet after each round, on two channels without room. Before that one works 1.5 ms, the
// target, the other 1 ms. The goroutine that comes last runs the other one on its own thread, and the other one's
// thread takes what was left: they change threads at each meeting.
//
// Truth: a round takes max(1.5(1-s), 1) ms: 25, 33, 33, 33.
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
	there, here := make(chan int), make(chan int)
	go func() {
		for x := uint64(1); ; {
			x = bench.Work(1000*bench.US, x)
			there <- 1
			<-here
		}
	}()
	for x := uint64(1); ; {
		x = target(run.Shrunk(1500*bench.US), x)
		<-there
		here <- 1
		progressDone()
		run.Visit()
	}
}
