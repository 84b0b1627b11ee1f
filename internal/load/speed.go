package load

import (
	"runtime"
	"strconv"
	"sync"
	"time"
)

// StepsVariable is the environment variable by which accuracy/ tells all programs of a study how many steps of work
// take a microsecond. Without it each program measures this figure itself, with a slightly different result each time,
// which would be noise in a comparison of runs.
const StepsVariable = "WHATIF_STEPS"

// ScaleVariable is the environment variable that makes programs assume a processor of another speed: with 0.7 all of
// their work takes 0.7 of the time that they intend.
const ScaleVariable = "WHATIF_CALIBRATION"

// sink keeps the compiler from leaving work out.
var sink uint64

// steps does n steps of the programs' work: multiply, then add. Each step depends on the one before.
//
//go:noinline
func steps(n int, x uint64) uint64 {
	for i := 0; i < n; i, x = i+1, x*6364136223846793005+1442695040888963407 {
	}
	return x
}

// lap is the number of steps that are timed together: some 0.1 ms.
const lap = 100_000

// laps times n laps on the current thread.
func laps(n int) (best, mean time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all time.Duration
	x := uint64(1)
	for i := range n {
		begin := time.Now()
		x = steps(lap, x)
		took := time.Since(begin)
		if i == 0 || took < best {
			best = took
		}
		all += took
	}
	sink = x
	return max(best, 1), all / time.Duration(n)
}

// StepsPerMicrosecond measures how many steps take a microsecond without disturbances: it is the best of 40 short
// loops. The environment may scale it: see [ScaleVariable].
func StepsPerMicrosecond(getenv func(string) string) int {
	best, _ := laps(40)
	perUS := lap * float64(time.Microsecond) / float64(best)
	if scale, err := strconv.ParseFloat(getenv(ScaleVariable), 64); err == nil && scale > 0 {
		perUS *= scale
	}
	return max(1, int(perUS+0.5))
}

// Spread measures by how much a loop takes longer on average than at best: 0.1 is a tenth. All processors run the loop
// for some 0.2 s. Other programs, a shared host and a processor that changes its speed all increase it.
func Spread() float64 {
	var wait sync.WaitGroup
	cpus := runtime.NumCPU()
	bests, means := make([]time.Duration, cpus), make([]time.Duration, cpus)
	for i := range cpus {
		wait.Go(func() { bests[i], means[i] = laps(2000) })
	}
	wait.Wait()
	var sum float64
	best := bests[0]
	for i := range cpus {
		best = min(best, bests[i])
		sum += float64(means[i])
	}
	return max(0, sum/float64(cpus)/float64(best)-1)
}
