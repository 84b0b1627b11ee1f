package analyze

import (
	"fmt"
	"math"
)

// vague is the half width, in points, beyond which even the best-known gain at half
// says hardly more than that there may be one.
const vague = 25

// vagueAt is the speed-up that it is of.
const vagueAt = 50

// Doubt says in words that the whole run tells little or nothing, and why; "" if it tells
// something. It belongs before everything else.
func (r *Result) Doubt() string {
	best, tried := math.Inf(1), 0
	for i := range r.Targets {
		tried += r.Targets[i].Tried
		for j := range r.Targets[i].Effects {
			if g, ok := r.Targets[i].Effects[j].At(vagueAt); ok && g.Bounded {
				best = min(best, g.Half())
			}
		}
	}
	switch {
	case best <= vague:
		return ""
	case !math.IsInf(best, 1):
		return fmt.Sprintf("this run tells little: the best-known gain at %d%% has an interval of ±%.0f points%s", vagueAt, best, r.because())
	case r.Experiments+r.Baselines == 0:
		return "this run tells nothing: no experiment can be used" + r.because()
	case tried == 0:
		return "this run tells no gain: no unit was tried" + r.because()
	}
	return "this run tells no gain for sure: no unit has an interval" + r.because()
}

// because is the first warning that explains it.
func (r *Result) because() string {
	for _, code := range []string{"no-data", "never-visited", "no-baseline", "set-aside", "few-visits", "unstable-baseline", "few-baselines", "foreign-cpu", "steal"} {
		for _, w := range r.Warnings {
			if w.Code == code {
				return "; " + w.Text
			}
		}
	}
	return ""
}
