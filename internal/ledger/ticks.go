package ledger

import (
	"runtime"
	"slices"
	"time"
)

// MeasureTicks finds out what a tick of the clock, which must have been started,
// takes from the thread that it hits: on a virtual machine most of that is the
// host's work, which the kernel side cannot see. It keeps a core busy for a while
// and looks at the gaps, most of which are ticks.
func (l *Ledger) MeasureTicks() {
	const (
		measured = 30 * time.Millisecond
		shortest = time.Microsecond // a reading of the clock is far shorter
	)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var gaps []time.Duration
	start := time.Now()
	for last := time.Duration(0); last < measured; {
		now := time.Since(start)
		if now-last > shortest {
			gaps = append(gaps, now-last)
		}
		last = now
	}
	if len(gaps) == 0 {
		return
	}
	slices.Sort(gaps)
	store(&l.page.control.TickCost, uint64(gaps[len(gaps)/2]))
}
