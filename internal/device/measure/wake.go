package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// asleep is how long a core is left idle before it is woken: long enough for the deeper idle states, which the kernel
// enters when it expects some 100 µs to 1 ms of idleness.
const asleep = 2 * time.Millisecond

// addWake adds the time from the write that wakes a thread on an idle core to the moment when the thread runs.
func (b *bench) addWake() {
	b.add("wake.idle", func(d time.Duration) (float64, error) { return wakeUps(d) })
}

func wakeUps(d time.Duration) (float64, error) {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		return 0, fmt.Errorf("asking which cores there are: %w", err)
	}
	waker, sleeper := twoOf(cores)
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("making an eventfd: %w", err)
	}
	defer unix.Close(event)
	begin := time.Now()
	count := max(3, int(d/(asleep+100*time.Microsecond)))
	// The times are those of the monotonic clock since begin, which all cores share.
	woken, failed := make(chan time.Duration), make(chan error, 2)
	go func() {
		pin(sleeper)
		var buf [8]byte
		for range count {
			if _, err := retry(func() (int, error) { return unix.Read(event, buf[:]) }); err != nil {
				failed <- fmt.Errorf("waiting for an eventfd: %w", err)
				return
			}
			woken <- time.Since(begin)
		}
	}()
	times := make(chan []float64, 1)
	go func() {
		pin(waker)
		var took []float64
		var one [8]byte
		binary.NativeEndian.PutUint64(one[:], 1)
		for range count {
			// The kernel's own sleep: Go's would start its timers on another thread.
			_, _ = retry(func() (int, error) {
				t := unix.NsecToTimespec(int64(asleep))
				return 0, unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
			})
			sent := time.Since(begin)
			if _, err := retry(func() (int, error) { return unix.Write(event, one[:]) }); err != nil {
				failed <- fmt.Errorf("writing to an eventfd: %w", err)
				return
			}
			took = append(took, (<-woken - sent).Seconds())
		}
		times <- took
	}()
	select {
	case err := <-failed:
		return 0, err
	case took := <-times:
		return median(took), nil
	}
}

// pin binds this goroutine's thread to a core. The goroutine never unlocks the thread, so that the thread ends with it.
func pin(core int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	_ = unix.SchedSetaffinity(0, &set) // without it, the scheduler mostly finds an idle core by itself
}

// twoOf finds two different cores, or twice the only one.
func twoOf(cores unix.CPUSet) (first, second int) {
	first = -1
	for i := range len(cores) * 64 {
		switch {
		case !cores.IsSet(i):
		case first < 0:
			first, second = i, i
		default:
			return first, i
		}
	}
	return max(first, 0), max(second, 0)
}

// retry repeats a system call that a signal has interrupted: Go stops threads by signals.
func retry(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
