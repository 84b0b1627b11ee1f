package ledger

// returnDelays is the part of a Ledger that makes threads pay before they return from a system call
// (bpf/pay/return_delay.h).
type returnDelays struct {
	*kernelSide
	attached map[string]bool // programs
}

func newReturnDelays(k *kernelSide) *returnDelays {
	return &returnDelays{kernelSide: k, attached: make(map[string]bool)}
}

// Timeouts is how many timeouts have ended so far while threads of the target waited for others.
func (d *returnDelays) Timeouts() int64 { return int64(load(&d.page.control.Timeouts)) }

// PeriodicSeen is how often periodic threads have been delayed so far, or should have been: see bpf/pay/periodic.h.
func (d *returnDelays) PeriodicSeen() int64 { return int64(load(&d.page.control.PeriodicSeen)) }

// DelayPeriodic delays periodic threads from now on, when they wake up. That costs each system call of the machine
// some 100 ns.
func (d *returnDelays) DelayPeriodic() error {
	return d.delay(&d.page.control.DelayPeriodic, "on_sys_exit")
}

// DelaySleepers delays threads that sleep by the clock from now on, when they wake up. That costs each system call of
// the machine some 100 ns.
func (d *returnDelays) DelaySleepers() error {
	return d.delay(&d.page.control.DelaySleepers, "on_sys_exit")
}

// DelayTimeouts delays threads from now on that have waited for another one until a timeout ended: they pay for that,
// or wait on. That costs each system call of the machine some 200 ns.
func (d *returnDelays) DelayTimeouts() error {
	return d.delay(&d.page.control.DelayTimeouts, "on_sys_exit", "on_futex")
}

// delay attaches the programs that delay threads of one kind, and then switches that on.
func (d *returnDelays) delay(kind *uint32, programs ...string) error {
	for _, name := range programs {
		if d.attached[name] {
			continue
		}
		if err := d.attach(name); err != nil {
			return err
		}
		d.attached[name] = true
	}
	d.page.control.DelaysReturns = 1
	*kind = 1
	return nil
}
