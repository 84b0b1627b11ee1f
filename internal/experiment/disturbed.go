package experiment

import (
	"slices"

	"whatif/internal/profile"
)

// Shares of the machine's time: an experiment is discarded when the hypervisor took, or other programs ran, by so much
// more than they usually do in this run. What is always there is part of the answer, and the report warns of it.
const (
	tooMuchSteal   = 0.10
	tooMuchForeign = 0.15
)

// disturbance watches how much of the machine's time others take.
type disturbance struct {
	cpus    int   // of the machine
	stolen  usual // by the hypervisor, as a share of the machine's time
	foreign usual // by other programs
}

// in says whether an experiment was disturbed, and remembers what it had.
func (d *disturbance) in(e *profile.Experiment) reason {
	machine := float64(e.RealNS) * float64(d.cpus)
	if machine <= 0 {
		return noTime
	}
	steal := d.stolen.exceeded(float64(e.StealNS)/machine, tooMuchSteal)
	foreign := d.foreign.exceeded(float64(e.ForeignNS)/machine, tooMuchForeign)
	switch {
	case steal:
		return stealTaken
	case foreign:
		return foreignTime
	}
	return usable
}

// usual is what the last experiments had.
type usual []float64

// exceeded remembers x, and says whether it is more than the median by at least by. Until enough is known it is not.
func (u *usual) exceeded(x, by float64) bool {
	const (
		enough = 8   // to know what is usual
		most   = 256 // that are remembered
	)
	*u = append(*u, x)
	if len(*u) > most {
		*u = (*u)[len(*u)-most:]
	}
	return len(*u) >= enough && x > median(*u)+by
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
