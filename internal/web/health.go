package web

import (
	"whatif/internal/report"
)

func judged(w report.Warning) warning {
	return warning{report.Warning{Code: report.Clean(w.Code), Text: report.Clean(w.Text)}, report.Level(w.Code)}
}

func judgedAll(from []report.Warning) []warning {
	to := []warning{}
	for _, w := range from {
		to = append(to, judged(w))
	}
	return to
}
