// Go_mutex is four goroutines that share one sync.Mutex, on two cores. Each round is 0.3 ms of its own work,
// then 0.5 ms in the critical section: the target.
//
// Truth: were the cores always full where they can be, a round would take max(0.5(1-s), (0.8-0.5s)/2) ms: 25,
// 45, 58, 70. But Go's mutex hands over in its own way: waiters spin, and a waiter that has starved for 1 ms
// goes first. So the measured truth counts.
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
func critical(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	var mutex sync.Mutex
	work := func() {
		for x := uint64(1); ; {
			x = bench.Work(300*bench.US, x)
			mutex.Lock()
			x = critical(run.Shrunk(500*bench.US), x)
			mutex.Unlock()
			progressDone()
			run.Visit()
		}
	}
	for range 3 {
		go work()
	}
	work()
}
