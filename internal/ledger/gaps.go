package ledger

import (
	"time"

	"golang.org/x/sys/unix"
)

// Gap is a time in which a thread did not run, though it had its core.
type Gap struct{ From, To uint64 }

// BusyGaps keeps this thread busy for so long of its own time, but at most for four times as long, and gives its gaps:
// interrupts, and what the host takes. Times in which other threads had the core say nothing about those, and would be
// the longest of all. The caller has locked the thread.
func BusyGaps(own time.Duration) (gaps []Gap) {
	const shortest = time.Microsecond // reading the clock takes far less
	var away, last time.Duration
	switched, begin, start := contextSwitches(), Now(), time.Now()
	for last < 4*own && last-away < own {
		now := time.Since(start)
		if now-last > shortest {
			if n := contextSwitches(); n == switched {
				gaps = append(gaps, Gap{begin + uint64(last), begin + uint64(now)})
			} else {
				away, switched = away+now-last, n
			}
			now = time.Since(start) // the time of getrusage is no gap
		}
		last = now
	}
	return gaps
}

// contextSwitches is how often this thread has left its core so far.
func contextSwitches() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0 // it never fails for this thread
	}
	return u.Nvcsw + u.Nivcsw
}
