package experiment

import (
	"testing"
	"time"

	"whatif/internal/ledger"
)

// For how long at least one thread waited for what counts, in 10 seconds.
func TestCountedWait(t *testing.T) {
	w := &waitMeter{waiting: []ledger.WaitClass{ledger.WaitSleep, ledger.WaitDisk}}
	lock := ledger.WaitLock
	waits := func(sleep, disk, lock time.Duration) (w ledger.Waits) {
		w[ledger.WaitSleep], w[ledger.WaitDisk], w[ledger.WaitLock] = sleep*time.Second, disk*time.Second, lock*time.Second
		return w
	}
	for _, c := range []struct {
		name     string
		class    *ledger.WaitClass
		over     ledger.Waits
		bothEnds bool
		want     time.Duration
	}{
		{"nothing", nil, waits(0, 0, 0), false, 0},
		{"what is over", nil, waits(1, 2, 4), false, 3},
		{"several at once", nil, waits(20, 0, 0), false, 10},
		{"throughout", nil, waits(0, 0, 0), true, 10},
		{"at both ends, and not in between", nil, waits(1, 0, 0), true, 1},
		{"a class", &lock, waits(1, 2, 4), false, 4},
	} {
		if got := w.counted(c.class, c.over, c.bothEnds, 10*time.Second); time.Duration(got) != c.want*time.Second {
			t.Errorf("%s: %v, want %d s", c.name, time.Duration(got), c.want)
		}
	}
}
