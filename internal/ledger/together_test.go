package ledger

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

//go:noinline
func firstUnit(n int) (sum int) {
	for i := range n {
		sum += i ^ sum<<1
	}
	return sum
}

//go:noinline
func secondUnit(n int) (sum int) {
	for i := range n {
		sum += i ^ sum<<3
	}
	return sum
}

// unitsOfTest answers the kernel side's questions about this process: two functions are units 1 and 2.
func unitsOfTest(l *Ledger) {
	for {
		e, err := l.NextEvent()
		if err != nil {
			return
		}
		if e.Exec || e.Table || e.Mapped || e.Named {
			continue
		}
		code := Code{}
		if f := runtime.FuncForPC(uintptr(e.Address)); f != nil {
			switch {
			case strings.HasSuffix(f.Name(), ".firstUnit"):
				code.Unit = 1
			case strings.HasSuffix(f.Name(), ".secondUnit"):
				code.Unit = 2
			}
		}
		if err := l.SetPlace(e.Place, code); err != nil {
			return
		}
	}
}

// runFor calls work until the thread has had so much processor time, and gives that. On a busy machine it may take
// long, but not more than a second.
func runFor(length time.Duration, work func(n int) int) time.Duration {
	begin, sum := threadTime(), 0
	for end := time.Now().Add(time.Second); threadTime()-begin < length && time.Now().Before(end); {
		sum += work(20_000)
	}
	runtime.KeepAlive(sum)
	return threadTime() - begin
}

// Two units that are sped up by different amounts at once earn what they deserve, each: in one thread that takes turns
// between them, and in two threads, where the slower earner pays for the faster one.
func TestTwoUnitsAtOnce(t *testing.T) {
	realkernel.Need(t)
	const first, second = 0.6, 0.2
	l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Join([]Process{{PID: os.Getpid()}}); err != nil {
		t.Fatal(err)
	}
	go unitsOfTest(l)
	if _, err := l.StartClock(onlineCPUs(t)); err != nil {
		t.Fatal(err)
	}
	selection := Selection{Number: 3, Units: []FasterUnit{{1, first}, {2, second}}}
	counted := func() (earned, stopped time.Duration) {
		all := l.Totals(0)
		return time.Duration(all.Changes.ByReason()["earned"]), all.Stopped
	}
	experiment := func(baseline bool, run func()) {
		l.Begin(Experiment{Selection: selection, Baseline: baseline, Length: 10 * time.Second})
		over := make(chan struct{})
		defer close(over)
		go func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(RenewEvery):
					_, _ = l.Renew() // it says whether this came too late, which a busy machine may do
				}
			}
		}()
		run()
		l.End(0)
	}
	// A phase is long enough for what its last sample stands for not to matter, which is earned in the next one.
	const phase = 60 * time.Millisecond
	var ran, has [2]time.Duration
	turns := func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for i := range 8 {
			earned, stopped := counted()
			ran[i%2] += runFor(phase, []func(int) int{firstUnit, secondUnit}[i%2])
			now, stops := counted()
			has[i%2] += now - earned
			ran[i%2] -= stops - stopped // it is the thread's time, and earns nothing
		}
	}
	experiment(true, turns) // what code there is becomes known
	if has[0]+has[1] != 0 {
		t.Errorf("a baseline earned %v", has)
	}
	ran, has = [2]time.Duration{}, [2]time.Duration{}
	experiment(false, turns)
	parts := [2]float64{float64(has[0]) / float64(ran[0]), float64(has[1]) / float64(ran[1])}
	t.Logf("in one thread: earned %v in %v", has, ran)
	// The time of ticks is a part of the thread's, more of it on a busy machine, but not of what it earns.
	if r := parts[0] / parts[1] / (first / second); r < 0.6 || r > 1.6 || parts[0] < 0.7*first || parts[0] > 1.1*first {
		t.Errorf("in one thread: earned %.2f and %.2f of the time, want %v and %v", parts[0], parts[1], first, second)
	}

	earned, stops := counted()
	experiment(false, func() {
		done := make(chan time.Duration)
		go func() {
			runtime.LockOSThread() // for good: the thread ends
			done <- runFor(5*phase, secondUnit)
		}()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ran[0] = runFor(5*phase, firstUnit)
		ran[1] = <-done
	})
	now, stopped := counted()
	all := float64(now - earned)
	stopped -= stops
	deserved := first*float64(ran[0]) + second*float64(ran[1]-stopped)
	t.Logf("in two threads: earned %.2f of what is deserved in %v with %v of stops", all/deserved, ran, stopped)
	if all < 0.7*deserved || all > 1.15*deserved {
		t.Errorf("in two threads: earned %v, deserved %v", time.Duration(all), time.Duration(deserved))
	}
	if runtime.NumCPU() > 1 && stopped == 0 {
		t.Error("the thread that earns less did not pay")
	}
}
