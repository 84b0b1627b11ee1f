package experiment

import (
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// usualDelay is how much of the experiments' time was delay: what placebos are to delay.
type usualDelay struct {
	delay, real int64
	placebos    int
}

func (d *usualDelay) add(t plan.Trial, e *profile.Experiment) {
	if t.Speedup > 0 && !t.Placebo {
		d.delay += max(0, e.DelayNS)
		d.real += e.RealNS
	}
}

// Less than leastPlacebo percent would not be seen, and mostPlacebo leaves the program enough of its time.
const (
	leastPlacebo = 5
	mostPlacebo  = 50
)

// next is what the next placebo is to delay, in percent: by turns more and less than an experiment does on average, as experiments do, within limits.
func (d *usualDelay) next() int {
	turn := placeboTurns[d.placebos%len(placeboTurns)]
	d.placebos++
	return int(min(mostPlacebo, max(leastPlacebo, turn*100*float64(d.delay)/float64(max(1, d.real)))))
}

var placeboTurns = [...]float64{1.4, 0.7}

// nextTrial draws the next trial, and completes a placebo.
func (s *session) nextTrial() plan.Trial {
	t := s.plan.Next(s.candidates)
	if !t.Placebo {
		return t
	}
	unit := s.units.placebo()
	if unit == 0 { // no room for it: a baseline
		return plan.Trial{Pair: t.Pair}
	}
	t.Unit, t.Watch, t.Speedup = unit, unit, s.delayed.next()
	return t
}

// placebo is the unit that is no code; 0 if there are too many others.
func (t *unitTable) placebo() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number(profile.Unit{Kind: profile.Placebo, Name: profile.Placebo}, false, "")
}
