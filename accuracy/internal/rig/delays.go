package rig

import "time"

// Delays tells how much the experiments delayed the program on purpose, as shares of their time. Experiments before the
// time after do not count. delayed is the growth of the common delay. stopped is the time for which cores were really
// stopped, summed over the cores. If the selected code runs on several cores, stopped is less, because that code is not
// stopped.
func (p *Profiled) Delays(after time.Duration) (delayed, stopped float64) {
	var delay, paused, real int64
	for _, e := range p.Data.Experiments {
		if e.StartNS+e.RealNS/2 > int64(after) {
			delay += e.DelayNS
			paused += e.PausedNS
			real += e.RealNS
		}
	}
	if real == 0 {
		return 0, 0
	}
	return float64(delay) / float64(real), float64(paused) / float64(real)
}
