package entries

import (
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

//go:noinline
func seldom() { n++ }

//go:noinline
func often() { n++ }

//go:noinline
func unused() { n++ }

var n int

// offsetOf is the offset of one of this program's functions in its file.
func offsetOf(t *testing.T, f func()) uint64 {
	t.Helper()
	entry := uint64(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Entry())
	maps, err := target.Maps(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if m.Start <= entry && entry < m.End {
			return entry - m.Start + m.Offset
		}
	}
	t.Fatal("this program is not in memory")
	return 0
}

// A function that runs all the time is found to be too frequent at once; of others the rate is counted. Afterwards no
// probe is left: calls are fast.
func TestCount(t *testing.T) {
	realkernel.NeedKernel(t)
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	var functions []Function
	for _, f := range []func(){seldom, often, unused} {
		functions = append(functions, Function{self, offsetOf(t, f)})
	}
	end := make(chan struct{})
	defer close(end)
	go func() {
		for {
			select {
			case <-end:
				return
			default:
				seldom()
				for begun := time.Now(); time.Since(begun) < 2*time.Millisecond; {
					often()
				}
			}
		}
	}()
	rates, err := Count(t.Context(), []int{os.Getpid()}, functions, 400*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	// A busy machine makes the loop slower, and never faster.
	if r := rates[0]; r.Unknown || r.TooOften || r.PerSecond <= 0 || r.PerSecond > 600 {
		t.Errorf("seldom: %+v, want 500 a second", r)
	}
	// On a slow machine the breakpoint alone keeps it from being so frequent.
	if r := rates[1]; !r.TooOften && r.PerSecond < 3000 {
		t.Errorf("often: %+v", r)
	}
	if r := rates[2]; r.Unknown || r.TooOften || r.PerSecond != 0 {
		t.Errorf("unused: %+v", r)
	}
	const many = 1_000_000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := ran(t)
	for range many {
		unused()
	}
	if took := ran(t) - begun; took > many*300*time.Nanosecond {
		t.Errorf("%v for %d calls: a probe is left", took, many)
	}
}

// ran is for how long this thread has had a core.
func ran(t *testing.T) time.Duration {
	t.Helper()
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &clock); err != nil {
		t.Fatal(err)
	}
	return time.Duration(clock.Nano())
}

func TestNothingToCount(t *testing.T) {
	realkernel.NeedKernel(t)
	if rates, err := Count(t.Context(), []int{os.Getpid()}, nil, time.Hour); err != nil || len(rates) != 0 {
		t.Errorf("%v, %v", rates, err)
	}
}
