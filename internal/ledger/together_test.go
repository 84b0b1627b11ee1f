package ledger

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// runFor calls work again and again, and gives the processor time that the thread had.
func runFor(length time.Duration, work func(n int) int) time.Duration {
	begin, sum := threadTime(), 0
	for end := time.Now().Add(length); time.Now().Before(end); {
		sum += work(20_000)
	}
	runtime.KeepAlive(sum)
	return threadTime() - begin
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
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
	experiment := func(baseline bool, run func()) (earned, stopped time.Duration) {
		before := l.Totals(0)
		l.Begin(Experiment{Selection: selection, Baseline: baseline, Length: 10 * time.Second})
		run()
		if _, err := l.Renew(); err != nil {
			t.Fatal(err)
		}
		d := l.End(0).Totals.Minus(before)
		return time.Duration(d.Changes.ByReason()["earned"]), d.Stopped
	}
	alone := func(length time.Duration) (a, b time.Duration) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range 20 {
			a += runFor(length/40, firstUnit)
			b += runFor(length/40, secondUnit)
		}
		return a, b
	}
	experiment(true, func() { alone(200 * time.Millisecond) }) // what code there is becomes known
	check := func(where string, earned, deserved time.Duration) {
		t.Helper()
		if off := math.Abs(float64(earned)/float64(deserved) - 1); off > 0.15 {
			t.Errorf("%s: earned %v, deserved %v", where, earned, deserved)
		}
		t.Logf("%s: earned %v, deserved %v", where, earned, deserved)
	}
	var a, b time.Duration
	worth := func(a, b time.Duration) time.Duration { return time.Duration(first*float64(a) + second*float64(b)) }
	earned, _ := experiment(false, func() { a, b = alone(600 * time.Millisecond) })
	check("in one thread", earned, worth(a, b))

	const length = 600 * time.Millisecond
	earned, stopped := experiment(false, func() {
		done := make(chan time.Duration)
		go func() {
			runtime.LockOSThread() // for good: the thread ends
			done <- runFor(length, secondUnit)
		}()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		a = runFor(length, firstUnit)
		b = <-done
	})
	// The time of stops is a thread's, too, and it earns nothing meanwhile.
	check("in two threads", earned, worth(a, b-stopped))
	if runtime.NumCPU() > 1 && stopped == 0 {
		t.Error("the thread that earns less did not pay")
	}
}
