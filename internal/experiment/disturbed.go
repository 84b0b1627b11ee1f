package experiment

import (
	"slices"

	"whatif/internal/profile"
)

// Shares of the machine's time: an experiment is set aside when the hypervisor
// took, or foreign tasks ran, by so much more than they usually do in this run.
// What is always there is part of the answer, and the report warns of it.
const (
	tooMuchSteal   = 0.10
	tooMuchForeign = 0.15
)

// disturbed says why an experiment is not to be used; "" if it is.
func (s *session) disturbed(e *profile.Experiment) string {
	machine := float64(e.RealNS) * float64(s.data.Run.CPUs)
	if machine <= 0 {
		return "empty"
	}
	steal := s.stolen.exceeded(float64(e.StealNS)/machine, tooMuchSteal)
	foreign := s.foreign.exceeded(float64(e.ForeignNS)/machine, tooMuchForeign)
	switch {
	case steal:
		return "steal"
	case foreign:
		return "foreign CPU time"
	}
	return ""
}

// usual is what the last experiments had.
type usual []float64

// exceeded says whether x is more than the median by at least by, once enough
// is known, and remembers it.
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
