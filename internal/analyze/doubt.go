package analyze

import (
	"fmt"
	"math"
	"slices"
)

// vague is the half width, as a part of the speed-up, beyond which even the best-known gain shows
// hardly more than that there may be one: ±25 points at a speed-up of 50%.
const vague = 0.5

// vagueAt is the speed-up that is judged, if it was tried.
const vagueAt = 50

// Doubt says in words that the whole run tells little or nothing, and why; "" if it tells
// something. It belongs before everything else.
func (r *Result) Doubt() string {
	if r.recordedOnly() {
		return r.estimatesDoubt()
	}
	if r.CountedOnly() {
		return "this run counts visits, and tells no gain: nothing was sped up, as -s 0 says"
	}
	best, at, tried := math.Inf(1), 0, 0
	for i := range r.Targets {
		tried += r.Targets[i].Tried
		for j := range r.Targets[i].Effects {
			half, speedup := r.Targets[i].Effects[j].bestKnown()
			if speedup > 0 && half/float64(speedup) < best {
				best, at = half/float64(speedup), speedup
			}
		}
	}
	switch {
	case best <= vague:
		return ""
	case at > 0:
		return fmt.Sprintf("this run tells little: the best-known gain at %d%% has an interval of ±%.0f points%s",
			at, best*float64(at), r.because())
	case r.Experiments+r.Baselines == 0:
		return "this run tells nothing: no experiment can be used" + r.because()
	case tried == 0:
		return "this run tells no gain: no unit was tried" + r.because()
	}
	return "this run tells no gain for sure: no unit has an interval" + r.because()
}

// CountedOnly says whether no run was to speed up anything (-s 0).
func (r *Result) CountedOnly() bool {
	speeds := func(f RunFacts) bool {
		return f.Run == nil || len(f.Run.Speedups) == 0 || slices.Max(f.Run.Speedups) > 0
	}
	return len(r.Runs) > 0 && r.Experiments == 0 && !slices.ContainsFunc(r.Runs, speeds)
}

// bestKnown is half the width of the interval at vagueAt, or else at the largest speed-up that has
// an interval; speedup is 0 if there is none.
func (e *Effect) bestKnown() (half float64, speedup int) {
	if g, ok := e.At(vagueAt); ok && g.Bounded {
		return g.Half(), vagueAt
	}
	for _, l := range e.Curve {
		if l.Gain.Bounded && l.Speedup > 0 {
			half, speedup = l.Gain.Half(), l.Speedup
		}
	}
	return half, speedup
}

func (r *Result) because() string {
	if w, ok := r.DoubtReason(); ok {
		return "; " + w.Text
	}
	return ""
}

// reasons are the codes of warnings that explain a doubt, the best explanation first.
var reasons = []string{
	"never-visited", "no-data", "no-units", "no-baseline", "set-aside", "few-visits",
	"unstable-baseline", "few-baselines", "foreign-cpu", "steal",
}

// DoubtReason is the warning that explains the doubt; Doubt ends with it.
func (r *Result) DoubtReason() (why Warning, ok bool) {
	codes := reasons
	if r.recordedOnly() {
		codes = []string{"never-visited", "no-estimates"}
	}
	for _, code := range codes {
		for _, w := range r.Warnings {
			if w.Code == code {
				return w, true
			}
		}
	}
	return Warning{}, false
}
