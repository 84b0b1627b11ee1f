// Go_select is a server that takes requests of two kinds from two channels, of 0.1 ms, and of 0.1 ms and 0.2 ms, the
// target. Four clients ask for one each, wait for the answer and compute 0.4 ms.
//
// Truth: were the two cores always full four requests, two of each kind, would take (2.4 - 0.4s)/2 ms: 4, 8, 12.5, 17.
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

type request struct{ answer chan uint64 }

func client(run *bench.Run, server chan<- request) {
	answer := make(chan uint64)
	for x := uint64(1); ; {
		x = bench.Work(400*bench.US, x)
		server <- request{answer}
		x += <-answer
		progressDone()
		run.Visit()
	}
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	long, short := make(chan request), make(chan request)
	for range 2 {
		go client(run, long)
		go client(run, short)
	}
	for x := uint64(1); ; {
		select {
		case r := <-long:
			x = target(run.Shrunk(200*bench.US), bench.Work(100*bench.US, x))
			r.answer <- x
		case r := <-short:
			x = bench.Work(100*bench.US, x)
			r.answer <- x
		}
	}
}
