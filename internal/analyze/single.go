package analyze

// Trial is what one experiment says by itself, for looking at the data. As in the estimates, far
// outliers are clipped, and gains are corrected for phases.
type Trial struct {
	Run, Experiment int // indices of the run, and of the experiment in that run
	Speedup         int
	Gain            float64 // in percent
	Known           bool    // Gain is known; without visits it is not
}

// single gives the trials of a fit, by speed-up and then in the order of time.
func (f *fit) single() []Trial {
	all := make([]Trial, 0, len(f.trials))
	for i := range f.trials {
		tr := &f.trials[i]
		one := Trial{Run: tr.run, Experiment: tr.exp, Speedup: tr.speedup}
		if tr.expected > 0 {
			one.Gain, one.Known = 100*(1-tr.time/tr.expected), true
		}
		all = append(all, one)
	}
	return all
}
