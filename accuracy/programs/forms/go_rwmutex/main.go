// Go_rwmutex is four goroutines. Three read for 0.4 ms under a sync.RWMutex after 0.8 ms of their own. One writes for 1
// ms, the target, after 1 ms of its own. A reader's turn is a visit.
//
// Truth: measured only.
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
	var lock sync.RWMutex
	for range 3 {
		go func() {
			for x := uint64(0); ; {
				x = bench.Work(800*bench.US, x)
				lock.RLock()
				x = bench.Work(400*bench.US, x)
				lock.RUnlock()
				progressDone()
				run.Visit()
			}
		}()
	}
	for x := uint64(1); ; {
		x = bench.Work(1000*bench.US, x)
		lock.Lock()
		x = target(run.Shrunk(1000*bench.US), x)
		lock.Unlock()
	}
}
