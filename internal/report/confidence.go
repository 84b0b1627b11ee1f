package report

import (
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// doubtful are the reasons, in few words, why numbers may be wrong, by the code of the warning that says more.
var doubtful = []struct{ code, words string }{
	{"rules-off", "rules were switched off"},
	{"mixed-builds", "runs of several builds"},
	{"placebo", "delays alone changed the program"},
	{"paced", "the program goes by a clock, or by clients"},
	{"remote-clients", "clients on other machines, so gains are upper bounds"},
	{"outside-clients", "clients outside of the recording, so estimates are upper bounds"},
	{"estimate-differs", "experiments and the recording disagree"},
	{"pace-differs", "another pace than in the recording"},
	{"foreign-cpu", "other programs took the cores"},
	{"steal", "the hypervisor took the cores"},
	{"hidden-contention", "something outside of this machine took the cores"},
	{"unpaid", "delays were left over"},
	{"set-aside", "many experiments were left out"},
	{"drift", "the pace changed while measuring"},
	{"goroutines", "goroutines were not followed"},
	{"unstable", "requests pile up"},
	{"disagree", "two measures of a latency differ"},
	{"few-visits", "few visits"},
	{"unstable-baseline", "a noisy point"},
	{"early-stacks", "many samples without code"},
}

// manyDoubts make the confidence poor.
const manyDoubts = 3

// confidence says in one line how far the numbers can be trusted: good, fair or poor, and why. "" where a doubt about
// the whole run says more.
func confidence(r *analyze.Result) string {
	switch level, why := Confidence(r); {
	case level == "":
		return ""
	case len(why) == 0:
		return "confidence: " + level
	default:
		return "confidence: " + level + ": " + strings.Join(why, ", ")
	}
}

// Confidence is how far the numbers can be trusted, and why not further; the level is "" where a doubt about the whole
// run says more.
func Confidence(r *analyze.Result) (level string, why []string) {
	if r.Doubt() != "" || len(r.Runs) == 0 {
		return "", nil
	}
	for _, d := range doubtful {
		if slices.ContainsFunc(r.Warnings, func(w analyze.Warning) bool { return w.Code == d.code }) {
			why = append(why, d.words)
		}
	}
	switch n := len(why); {
	case n == 0:
		return "good", nil
	case n < manyDoubts:
		return "fair", why
	}
	return "poor", why
}
