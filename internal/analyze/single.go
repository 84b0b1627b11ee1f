package analyze

// A Trial is what one experiment says by itself. It is for looking at the data: far
// outliers are drawn in and phases corrected for, as in the estimates.
type Trial struct {
	Run, Experiment int // index of the runs, and of that run's experiments
	Speedup         int
	Gain            float64 // in percent
	Known           bool    // Gain is; without visits there is none
}

// single gives the trials of a fit one by one, by speed-up and then in the order of time.
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
