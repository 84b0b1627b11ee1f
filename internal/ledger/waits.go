package ledger

import (
	"time"

	"whatif/bpf"
)

// WaitClass is what a thread waits for while it does not run. What ends the wait tells the class.
type WaitClass int

// The classes of waiting that other packages name.
const (
	WaitOther = WaitClass(bpf.LedgerWaitClassWAIT_OTHER)
	WaitNet   = WaitClass(bpf.LedgerWaitClassWAIT_NET)
	WaitDisk  = WaitClass(bpf.LedgerWaitClassWAIT_DISK)
	WaitSleep = WaitClass(bpf.LedgerWaitClassWAIT_SLEEP)
	WaitLock  = WaitClass(bpf.LedgerWaitClassWAIT_LOCK)
	WaitCPU   = WaitClass(bpf.LedgerWaitClassWAIT_CPU)
)

// waitNames are the names of the classes on the command line and in profiles.
var waitNames = [...]string{
	bpf.LedgerWaitClassWAIT_OTHER: "other",
	bpf.LedgerWaitClassWAIT_DISK:  "disk",
	bpf.LedgerWaitClassWAIT_NET:   "net",
	bpf.LedgerWaitClassWAIT_SLEEP: "sleep",
	bpf.LedgerWaitClassWAIT_LOCK:  "lock",
	bpf.LedgerWaitClassWAIT_CHILD: "child",
	bpf.LedgerWaitClassWAIT_CPU:   "cpu",
}

func (c WaitClass) String() string { return waitNames[c] }

// WaitClasses are all classes.
func WaitClasses() []WaitClass {
	all := make([]WaitClass, len(waitNames))
	for i := range all {
		all[i] = WaitClass(i)
	}
	return all
}

// setOf is a set of classes as the kernel programs have it, a bit each.
func setOf(classes []WaitClass) uint32 {
	var set uint32
	for _, c := range classes {
		set |= 1 << c
	}
	return set
}

// Waits is the time that threads have waited, summed over them, by class.
type Waits [bpf.LedgerWaitClassWAIT_CLASSES]time.Duration

// UnitWaits returns the time of all waits in the code of a unit that are over. now tells whether a thread waits there
// at present, if a wait there is expected to be of a class that counts as the unit's time.
func (x *experiments) UnitWaits(unit uint32) (over Waits, now bool) {
	w := &x.page.unitWaits[unit]
	for c := range over {
		over[c] = time.Duration(load(&w.Ns[c]))
	}
	return over, load(&w.Now) > 0
}

// WaitsForWork says that threads in the code of a unit wait for work: no wait there is the unit's time.
func (x *experiments) WaitsForWork(unit uint32) { x.page.unitWaits[unit].Idle = 1 }

// WaitsLeft is the name of the loss that WaitsUnended counts.
const WaitsLeft = "waits that never ended"

// WaitsUnended is how many threads are counted as waiting. When the target has ended, there should be none: else G may
// have grown for a thread that did not wait any more.
func (x *experiments) WaitsUnended() int64 {
	var n int64
	for c := range x.page.control.Waiting {
		n += int64(load(&x.page.control.Waiting[c]))
	}
	return n
}
