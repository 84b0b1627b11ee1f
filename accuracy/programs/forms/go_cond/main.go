// Go_cond is two goroutines with a ring of four places between them, a sync.Mutex and two sync.Conds. One works 0.6 ms
// an item, the other 1 ms, the target.
//
// Truth: an item takes max(1-s, 0.6) ms: 25, 40, 40, 40.
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
func target(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 { // TARGET
	}
	return x
}

func main() {
	run := bench.Start()
	runtime.GOMAXPROCS(2)
	var lock sync.Mutex
	filled, freed := sync.NewCond(&lock), sync.NewCond(&lock)
	ready := 0
	go func() {
		for x := uint64(0); ; {
			x = bench.Work(600*bench.US, x)
			lock.Lock()
			for ready == 4 {
				freed.Wait()
			}
			ready++
			lock.Unlock()
			filled.Signal()
		}
	}()
	for x := uint64(1); ; {
		lock.Lock()
		for ready == 0 {
			filled.Wait()
		}
		ready--
		lock.Unlock()
		freed.Signal()
		x = target(run.Shrunk(1000*bench.US), x)
		progressDone()
		run.Visit()
	}
}
