// Go_open_loop is open_loop with goroutines. Requests come by the clock, whatever has become of earlier ones, and wait
// in a channel. One goroutine serves them, in 2 ms on average, of which 1.4 are the target. The times between them are
// random, 4 ms on average, and the same in each run.
//
// Truth: as many requests come as before, so throughput stays, but they wait for less.
package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"whatif/accuracy/programs/bench"
)

type request struct {
	number uint64
	kind   int
	came   time.Time
}

// requestBegin and requestEnd are the latency's two points. Their argument identifies the request.
//
//go:noinline
func requestBegin(number uint64) {}

//go:noinline
func progressDone() {}

//go:noinline
func requestEnd(number uint64) uint64 { return number } // another text, or one function would have both names

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
	requests := make(chan request, 4096)
	go func() {
		for r := range requests {
			x := bench.Work((400+400*r.kind)*bench.US, r.number)
			compute(run.Shrunk((800+1200*r.kind)*bench.US), x)
			requestEnd(r.number)
			progressDone()
			run.Answered(time.Since(r.came))
		}
	}()
	chance := rand.New(rand.NewPCG(1, 2))
	for n := uint64(1); ; n++ {
		time.Sleep(time.Duration(-math.Log(1-chance.Float64()) * float64(4*time.Millisecond)))
		r := request{n, chance.IntN(2), time.Now()}
		requestBegin(n)
		requests <- r
	}
}
