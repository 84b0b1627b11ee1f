// Package bench is what the Go programs of the accuracy suite share: bench.h in Go.
//
// A program reads its arguments with [Start]. Then it computes, and once a visit it calls its own
// progressDone, and [Run.Visit] next to it. The function progressDone and the loop that is the target stay
// in the program's own file, where a profiler finds them as main.progressDone and FILE:LINE.
package bench

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"whatif/internal/load"
)

// US is the number of steps (multiply, then add) that take about a microsecond on this machine, as bench_calibrate of
// bench.h finds it.
var US = calibrated()

func calibrated() int {
	if n, err := strconv.Atoi(os.Getenv(load.StepsVariable)); err == nil && n > 0 {
		return n
	}
	return load.StepsPerMicrosecond(os.Getenv)
}

// Work does so many steps that are not the target, beginning with x.
//
//go:noinline
func Work(steps int, x uint64) uint64 {
	for i := 0; i < steps; i, x = i+1, x*6364136223846793005+1442695040888963407 {
	}
	return x
}

// Run is one run of a program.
type Run struct {
	percent int
	seconds float64
	start   atomic.Pointer[time.Time]
	visits  atomic.Int64
	ended   atomic.Bool

	mutex   sync.Mutex
	latency []time.Duration // of all requests, for programs that have some
}

// Start reads PERCENT and SECONDS from the command line.
func Start() *Run {
	if len(os.Args) < 3 {
		fmt.Fprintf(os.Stderr, "usage: %s PERCENT SECONDS\n", os.Args[0])
		os.Exit(2)
	}
	percent, err := strconv.Atoi(os.Args[1])
	seconds, err2 := strconv.ParseFloat(os.Args[2], 64)
	if err != nil || err2 != nil || percent < 0 || percent > 100 {
		fmt.Fprintln(os.Stderr, "bench: PERCENT is 0 to 100, SECONDS more than 0")
		os.Exit(2)
	}
	return &Run{percent: percent, seconds: seconds}
}

// Shrunk is what is left of the target's n steps.
func (r *Run) Shrunk(n int) int { return n * (100 - r.percent) / 100 }

// Visit counts one unit of progress. The first call starts the clock. The first call after SECONDS reports
// and ends the program.
func (r *Run) Visit() {
	now := time.Now()
	if r.start.CompareAndSwap(nil, &now) {
		return
	}
	visits := r.visits.Add(1)
	passed := now.Sub(*r.start.Load()).Seconds()
	if passed < r.seconds || r.ended.Swap(true) {
		return
	}
	r.printLatency()
	fmt.Printf("visits %d seconds %.6f\n", visits, passed)
	os.Exit(0)
}

// Answered is a visit at the end of a request, which took so long.
func (r *Run) Answered(took time.Duration) {
	r.mutex.Lock()
	r.latency = append(r.latency, took)
	r.mutex.Unlock()
	r.Visit()
}

func (r *Run) printLatency() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.latency) == 0 {
		return
	}
	slices.Sort(r.latency)
	var sum time.Duration
	for _, took := range r.latency {
		sum += took
	}
	at := func(percent int) float64 { return r.latency[len(r.latency)*percent/100].Seconds() }
	mean := sum.Seconds() / float64(len(r.latency))
	fmt.Printf("latency mean %.9f p50 %.9f p95 %.9f p99 %.9f\n", mean, at(50), at(95), at(99))
}
