package ledger

import (
	"time"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// WaitClass is what a thread waits for while it does not run. Which it was is told by what
// ended the wait.
type WaitClass int

const (
	WaitOther = WaitClass(bpf.LedgerWaitClassWAIT_OTHER)
	WaitDisk  = WaitClass(bpf.LedgerWaitClassWAIT_DISK)
	WaitNet   = WaitClass(bpf.LedgerWaitClassWAIT_NET)
	WaitSleep = WaitClass(bpf.LedgerWaitClassWAIT_SLEEP)
	WaitLock  = WaitClass(bpf.LedgerWaitClassWAIT_LOCK)
	WaitChild = WaitClass(bpf.LedgerWaitClassWAIT_CHILD)
	WaitCPU   = WaitClass(bpf.LedgerWaitClassWAIT_CPU)
)

// waitNames are what the classes are called on the command line and in the profile.
var waitNames = [...]string{"other", "disk", "net", "sleep", "lock", "child", "cpu"}

func (c WaitClass) String() string { return waitNames[c] }

// WaitClasses are all classes.
func WaitClasses() []WaitClass {
	all := make([]WaitClass, len(waitNames))
	for i := range all {
		all[i] = WaitClass(i)
	}
	return all
}

// Waits is time that threads waited, summed over them, by class.
type Waits [bpf.LedgerWaitClassWAIT_CLASSES]time.Duration

// UnitWaits are the waits in the code of a unit that are over, since the start, and
// whether a thread waits there now, as far as that is expected to be of a class that
// counts as the unit's time.
func (l *Ledger) UnitWaits(unit uint32) (over Waits, now bool) {
	w := &l.page.unitWaits[unit]
	for c := range over {
		over[c] = time.Duration(load(&w.Ns[c]))
	}
	return over, load(&w.Now) > 0
}

// WaitsLeft is the name under which session counts what WaitsUnended finds.
const WaitsLeft = "waits that never ended"

// WaitsUnended is how many threads are counted as waiting. Of a target that has ended
// that is none, or G may have grown for nobody.
func (l *Ledger) WaitsUnended() int64 {
	var n int64
	for c := range l.page.control.Waiting {
		n += int64(load(&l.page.control.Waiting[c]))
	}
	return n
}

// setClasses sets a variable of the kernel programs to classes of waiting, a bit each.
func setClasses(spec *ebpf.CollectionSpec, variable string, classes []WaitClass) error {
	var mask uint32
	for _, c := range classes {
		mask |= 1 << c
	}
	return setVariable(spec, variable, mask)
}
