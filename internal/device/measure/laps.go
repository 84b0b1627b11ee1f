package measure

import (
	"runtime"
	"sync"
	"time"
)

// leastLap is the length of a lap. A lap is long compared with reading the clock (some 50 ns, under emulation 1 µs),
// and short compared with the time between two interrupts, so that most laps have none.
const leastLap = 200 * time.Microsecond

// paced finds how many steps a lap has.
func paced(loop func(n int), d time.Duration) (n int) {
	for n = 64; ; n *= 2 {
		begin := time.Now()
		loop(n)
		if took := time.Since(begin); took >= min(leastLap, d/8) || n > 1<<40 {
			return n
		}
	}
}

// rate runs loop in laps for about d, on this thread, and returns steps per second in the median lap.
func rate(loop func(n int), d time.Duration) float64 {
	begin := time.Now()
	n := paced(loop, d)
	var laps []float64
	for len(laps) == 0 || time.Since(begin) < d {
		lap := time.Now()
		loop(n)
		laps = append(laps, max(time.Since(lap).Seconds(), 1e-9))
	}
	return float64(n) / median(laps)
}

// one measures the rate on one core.
func one(loop func(n int)) func(d time.Duration) (float64, error) {
	return func(d time.Duration) (float64, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return rate(loop, d), nil
	}
}

// all measures the rates on all cores at once. loops has one loop for each core.
func all(loops []func(n int), d time.Duration) []float64 {
	rates := make([]float64, len(loops))
	var ready, done sync.WaitGroup
	ready.Add(len(loops))
	for i, loop := range loops {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
			rates[i] = rate(loop, d)
		})
	}
	done.Wait()
	return rates
}

func sum(xs []float64) (s float64) {
	for _, x := range xs {
		s += x
	}
	return s
}
