package experiment

import (
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// usualDelay is how much of the experiments' time was delay: placebos are to delay about as much.
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

// placeboTurns are how much placebos delay, of an experiment's average: experiments delay more and less, too.
var placeboTurns = [...]float64{1.4, 0.7}

// next is how much the next placebo is to delay, in percent, within the limits.
func (d *usualDelay) next() int {
	turn := placeboTurns[d.placebos%len(placeboTurns)]
	d.placebos++
	return int(min(mostPlacebo, max(leastPlacebo, turn*100*float64(d.delay)/float64(max(1, d.real)))))
}
