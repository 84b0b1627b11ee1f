package experiment

import (
	"time"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// Visits of the point that is visited most, in one experiment: with fewer than fewVisits the next ones are longer, with
// more than plentyVisits shorter again. Rarer points get their data from many experiments together, and do not hold up
// the others.
const (
	fewVisits    = 5
	plentyVisits = 50
)

// longestExperiment, as a multiple of the length asked for.
const longestExperiment = 16

// lengths decides how long experiments are.
type lengths struct {
	asked     time.Duration // see Config.Experiment
	usual     time.Duration // of the experiments to come
	stretches stretches
	carried   carried
	long      bool // experiments are that long because requests are
}

func newLengths(asked time.Duration) *lengths {
	return &lengths{asked: asked, usual: asked, stretches: make(stretches)}
}

// of is the length of a trial's experiment.
func (l *lengths) of(t plan.Trial) time.Duration { return l.stretches.of(t, l.usual) }

// add learns from an experiment that was not ended early.
func (l *lengths) add(e *profile.Experiment) {
	l.adapt(e)
	l.stretches.add(e)
}

// adapt chooses the usual length of the experiments to come.
func (l *lengths) adapt(e *profile.Experiment) {
	var most int64
	for _, p := range e.Points {
		most = max(most, p.Count)
	}
	// A request that takes as long as an experiment runs at two speeds. Where experiments were made longer for that they
	// stay so, as it would happen again.
	carried := l.carried.add(e.Latencies)
	l.long = l.long || carried
	longest := longestExperiment * l.asked
	switch {
	case most < fewVisits && !carried:
		// As long as it takes, at once; without a visit, four times as long.
		l.usual = min(longest, l.usual*time.Duration(max(2, min(4, 2*fewVisits/max(most, 1)))))
	case carried && l.usual < longest:
		l.usual *= 2
	case most > plentyVisits && !l.long && l.usual > l.asked:
		l.usual = max(l.asked, l.usual/2)
	}
}

// carried counts, for experiments of one length, how many requests ended in them, and how many of those had begun
// before.
type carried struct{ matched, before int64 }

// add counts an experiment. It tells whether so many requests were carried that their durations say little about the
// experiments that they are counted in; then it begins to count anew.
func (c *carried) add(all []profile.Durations) bool {
	const (
		enough = 50
		many   = 0.02 // the p99 would be made of them
	)
	for _, d := range all {
		c.matched += d.Matched
		c.before += d.Carried
	}
	if c.before == 0 || c.matched < enough && c.before < c.matched || float64(c.before) <= many*float64(c.matched) {
		return false
	}
	*c = carried{}
	return true
}
