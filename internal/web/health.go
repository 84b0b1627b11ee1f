package web

import (
	"whatif/internal/report"
)

// levels says which doubts come first. What is hopeless has no answer, and what is careful
// may have a wrong one; all others are said where they belong.
var levels = map[string]string{
	"no-data": "hopeless", "no-baseline": "hopeless", "never-visited": "hopeless", "no-latency": "hopeless", "few-baselines": "hopeless",
	"unstable-baseline": "careful", "drift": "careful", "few-visits": "careful", "foreign-cpu": "careful", "steal": "careful",
	"hidden-contention": "careful", "set-aside": "careful", "unpaid": "careful", "unstable": "careful", "disagree": "careful",
}

func judged(w report.Warning) warning {
	return warning{report.Warning{Code: report.Clean(w.Code), Text: report.Clean(w.Text)}, levels[w.Code]}
}

func judgedAll(from []report.Warning) []warning {
	to := []warning{}
	for _, w := range from {
		to = append(to, judged(w))
	}
	return to
}
