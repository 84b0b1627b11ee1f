package experiment

import "whatif/internal/ledger"

// lease keeps the kernel side at work: without it the target is at full speed again within a second. It finds out when
// whatif, or a sampling clock, stood still: what was measured during that time cannot be used.
type lease struct {
	ledger      *ledger.Ledger
	rec         *recorder
	interrupted reason // why the experiment under way cannot be used
}

// begin is for the begin of an experiment: what happened before does not matter to it.
func (l *lease) begin() {
	l.renew()
	l.interrupted = usable
}

// renew tells the kernel side that the loop of experiments is at work.
func (l *lease) renew() {
	i, err := l.ledger.Renew()
	if err != nil {
		l.rec.warn("clock-lost", "checking the sampling clocks: %v", err)
	}
	if i.InExperiment {
		l.interrupted = stoodStill
		l.rec.warn("stalled", "whatif itself did not run for a second or more, as it was stopped or the machine was "+
			"too busy: after 0.9 s the program ran at full speed, and such experiments are discarded")
	}
	if len(i.Lost) > 0 {
		l.interrupted = clockLost
		l.rec.warn("clock-lost", "the sampling clock of CPU %s stopped and was started again: the CPU was "+
			"off line for a moment, the machine was suspended, or the host did not run the CPU. "+
			"That experiment is discarded", cpuList(i.Lost))
	}
	if len(i.Barred) > 0 {
		l.rec.warn("clock-lost", "the sampling clock of CPU %s could not be started again: while that is so, "+
			"threads there are neither sampled nor stopped, and gains may be wrong. If the CPU is not just going off line, "+
			"profile again where whatif may use all CPUs", cpuList(i.Barred))
	}
}
