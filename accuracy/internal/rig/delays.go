package rig

import "time"

// Delays is by how much the experiments after the first moments delayed the program on purpose, as parts of their
// time: how much the common delay grew, and for how long cores were really stopped, summed over the cores.
// The second is less where the selected code itself runs on several cores: what is sped up is not stopped.
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
