package ledger

import (
	"os"
	"slices"
	"time"
)

// The kernel side does something in this process's name only while it is heard of: for so long after each Renew. If the
// loop of experiments hangs, or this process is stopped, the target is at full speed again when that is over.
const (
	lease = 900 * time.Millisecond
	// RenewEvery is how often Renew has to be called, at least.
	RenewEvery = lease / 4
)

// Interruption is what has happened since Renew was called last.
type Interruption struct {
	Away         time.Duration // for so long this process was not heard of; 0: it was
	InExperiment bool          // an experiment was under way then: it ended before its time
	Lost         []int         // cores whose clocks had stopped
	Barred       []int         // of those: they could not be started again
}

// Renew tells the kernel side that this process is at work, and starts clocks again that have stopped.
func (l *Ledger) Renew() (Interruption, error) {
	i := l.renew()
	restart, err := l.lostClocks()
	if i.Away > 0 { // all have become slow
		restart, err = l.online(l.clocks)
	}
	if err != nil || len(restart) == 0 {
		return i, err
	}
	barred, err := l.startClocks(restart)
	if err != nil {
		barred = restart
	}
	// A core that is just going off line can be had again later. One that a cpuset has lost for good is tried in vain each
	// time, and that is told once.
	again := func(cpu int) bool { return slices.Contains(l.barred, cpu) && slices.Contains(barred, cpu) }
	if i.Away == 0 {
		i.Lost = slices.DeleteFunc(slices.Clone(restart), again)
	}
	i.Barred = slices.DeleteFunc(slices.Clone(barred), again)
	l.barred = barred
	return i, err
}

func (l *Ledger) renew() (i Interruption) {
	c := l.page.control
	now, until := Now(), load(&c.Lease)
	if until != 0 && now >= until {
		i.Away = time.Duration(now-until) + lease
		if deadline := load(&c.Deadline); deadline > until {
			i.InExperiment = true
			store(&c.Deadline, until) // or it would go on
		}
	}
	store(&c.Lease, now+uint64(lease))
	return i
}

// lostClocks are the cores that are on line, and whose clock has stopped: whose timer the kernel has moved to another
// core, as it does when a core goes off line, or the machine is suspended.
func (l *Ledger) lostClocks() ([]int, error) {
	// A host may keep a virtual core from running for a while; ticks are up to 1.5 periods apart.
	const late = 100 * time.Millisecond
	then := Now() - uint64(max(late, 4*time.Duration(l.page.control.Period)))
	var lost []int
	for _, cpu := range l.clocks {
		if load(&l.page.cores[cpu].Ticked) < then && !l.parked(cpu) {
			lost = append(lost, cpu)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	return l.online(lost)
}

func (l *Ledger) online(cpus []int) ([]int, error) {
	now, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !slices.Contains(now.Online, cpu) }), err
}
