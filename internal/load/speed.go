package load

import (
	"runtime"
	"strconv"
	"sync"
	"time"
)

// StepsVariable is the environment variable by which accuracy/ tells all programs of a study how many steps of their
// work take a microsecond. Programs that are not told measure it themselves, a little differently each time: for runs
// that are to be compared that would be noise.
const StepsVariable = "WHATIF_STEPS"

// ScaleVariable is the environment variable that makes programs believe in a processor that is faster or slower than
// it is: with 0.7 all of their work takes 0.7 of the time that they say.
const ScaleVariable = "WHATIF_CALIBRATION"

// sink keeps the compiler from leaving work out.
var sink uint64

// steps does some steps of the programs' work: multiply, then add, each waiting for the one before.
//
//go:noinline
func steps(n int, x uint64) uint64 {
	for i := 0; i < n; i, x = i+1, x*6364136223846793005+1442695040888963407 {
	}
	return x
}

// lap is how many steps are timed at once: some 0.1 ms.
const lap = 100_000

// laps times some laps on the current thread.
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

// StepsPerMicrosecond is how many steps take a microsecond where nothing disturbs them: the best of some short loops.
// The environment may scale it: see [ScaleVariable].
func StepsPerMicrosecond(getenv func(string) string) int {
	best, _ := laps(40)
	perUS := lap * float64(time.Microsecond) / float64(best)
	if scale, err := strconv.ParseFloat(getenv(ScaleVariable), 64); err == nil && scale > 0 {
		perUS *= scale
	}
	return max(1, int(perUS+0.5))
}

// Spread is by how much a loop takes longer on average than at its best, 0.1 for a tenth, when all processors run it
// for some 0.2 s: others that run, a host that is shared, and a processor that changes its speed, all show in it.
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
