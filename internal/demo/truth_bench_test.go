package demo

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkTruth compares Truth with the real gains if work is left out:
//
//	go test -run=NONE -bench=Truth -benchtime=1x ./internal/demo
//
// The speed of a shared machine drifts, so each measurement is between two of the unchanged program. The result is the
// median of the ratios. A measurement is the lower decile of the lengths of some 25 rounds: rounds in which another
// program had one of the CPUs are longer and do not count, unless nearly all rounds are disturbed.
func BenchmarkTruth(b *testing.B) {
	const tolerance = 3 // percentage points; hand-overs alone are 1
	prepare()
	n := perUnit()
	for range b.N {
		fmt.Printf("%-12s %8s %8s %8s %8s\n", "line", "speed-up", "truth", "measured", "spread")
		for i, l := range Truth() {
			for _, speedup := range []int{25, 50, 75, 100} {
				got, spread := measure(n, i, speedup)
				fmt.Printf("%-12s %7d%% %7.1f%% %7.1f%% %8.1f\n", l.Name, speedup, l.Gain(float64(speedup)), got, spread)
				if want := l.Gain(float64(speedup)); math.Abs(got-want) > tolerance {
					b.Errorf("%s, %d%% less work: %.1f%% faster, truth says %.1f%%", l.Name, speedup, got, want)
				}
			}
		}
	}
}

// measure returns the median gain in percent, and the distance between the quartiles.
func measure(n, line, speedup int) (median, spread float64) {
	base := pieces{unitsA * n, unitsB * n, unitsC * n}
	less := base
	which := []*int{&less.a, &less.b, &less.c}[line]
	*which = *which * (100 - speedup) / 100
	var gains []float64
	for range 7 {
		before, with, after := period(base), period(less), period(base)
		gains = append(gains, 100*(1-2*with/(before+after)))
	}
	slices.Sort(gains)
	k := len(gains)
	return gains[k/2], gains[k*3/4] - gains[k/4]
}

// period is the length of an undisturbed round in ns.
func period(p pieces) float64 {
	var lengths []float64
	last := time.Now()
	p.rounds(25*6*unit, func() {
		now := time.Now()
		lengths = append(lengths, float64(now.Sub(last)))
		last = now
	})
	slices.Sort(lengths)
	return lengths[len(lengths)/10]
}

// TestProportions checks that the three lines take CPU time in the proportions that Truth assumes. The speed of a
// shared machine drifts, so each piece is compared with the one of line C that follows at once, and the median counts.
// Pieces take several ticks of the scheduler: those that take about one meet it or not, in step.
func TestProportions(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n := 2 * perUnit()
	took := func(work func(int, uint64) uint64, n int) float64 {
		begin := cpuTime(t)
		sink.Add(work(n, 1))
		return cpuTime(t) - begin
	}
	for _, line := range []struct {
		name  string
		work  func(int, uint64) uint64
		units int
	}{{"A", workA, unitsA}, {"B", workB, unitsB}} {
		var inUnits []float64
		for range 41 {
			ratio := took(line.work, line.units*n) / took(workC, unitsC*n)
			inUnits = append(inUnits, ratio*unitsC)
		}
		slices.Sort(inUnits)
		if got := inUnits[len(inUnits)/2]; math.Abs(got/float64(line.units)-1) > 0.05 {
			t.Errorf("line %s takes %.3f units of CPU time, want %d", line.name, got, line.units)
		}
	}
}

func cpuTime(t *testing.T) float64 {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return float64(ts.Nano())
}
