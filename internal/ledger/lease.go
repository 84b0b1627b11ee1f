package ledger

import (
	"os"
	"slices"
	"time"
)

const (
	// lease is how long after each Renew the kernel side works for this process. Then nothing is earned, stopped or
	// counted. So if the loop of experiments hangs or this process is stopped, the target is at full speed again.
	lease = 900 * time.Millisecond
	// RenewEvery is how often Renew has to be called, at least.
	RenewEvery = lease / 4
)

// Interruption is what has happened since the last Renew.
type Interruption struct {
	InExperiment bool  // the lease ran out during an experiment, which ended early
	Lost         []int // cores whose clocks had stopped
	Barred       []int // the lost cores whose clocks could not be started again

	away time.Duration // since the last Renew, if the lease has run out; else 0
}

// Renew tells the kernel side that this process is at work, and starts the clocks again that have stopped.
func (c *clock) Renew() (Interruption, error) {
	i := c.renew()
	restart, err := c.lostClocks()
	if i.away > 0 { // all clocks have become slow
		restart, err = online(c.cores)
	}
	if err != nil || len(restart) == 0 {
		return i, err
	}
	barred, err := c.startTimers(restart)
	if err != nil {
		barred = restart
	}
	// A core that is just going off line may come back. A core that a cpuset has lost for good is tried in vain each
	// time, and is reported once.
	again := func(cpu int) bool { return slices.Contains(c.barred, cpu) && slices.Contains(barred, cpu) }
	if i.away == 0 {
		i.Lost = slices.DeleteFunc(slices.Clone(restart), again)
	}
	i.Barred = slices.DeleteFunc(slices.Clone(barred), again)
	c.barred = barred
	return i, err
}

func (c *clock) renew() (i Interruption) {
	control := c.page.control
	now, until := Now(), load(&control.Lease)
	if until != 0 && now >= until {
		i.away = time.Duration(now-until) + lease
		if deadline := load(&control.Deadline); deadline > until {
			i.InExperiment = true
			store(&control.Deadline, until) // or the experiment would go on
		}
	}
	store(&control.Lease, now+uint64(lease))
	return i
}

// lostClocks are the cores that are on line, but whose clock has stopped. When a core goes off line or the machine is
// suspended, the kernel moves the timer to another core, where it ends.
func (c *clock) lostClocks() ([]int, error) {
	// Ticks are up to 1.5 periods apart, and a host may keep a virtual core from running for a while.
	const late = 100 * time.Millisecond
	then := Now() - uint64(max(late, 4*time.Duration(c.page.control.Period)))
	var lost []int
	for _, cpu := range c.cores {
		if load(&c.page.cores[cpu].Ticked) < then && !c.rests(cpu) {
			lost = append(lost, cpu)
		}
	}
	if len(lost) == 0 {
		return nil, nil
	}
	return online(lost)
}

// online are those of the cores that are on line.
func online(cpus []int) ([]int, error) {
	now, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	return slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !slices.Contains(now.Online, cpu) }), err
}
