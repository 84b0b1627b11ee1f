package report

import (
	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// The JSON report as Go sees it, for what shows the same in another form.
type (
	Model   = jsonReport
	Run     = jsonRun
	Point   = jsonPoint
	Latency = jsonLatency
	Target  = jsonTarget
	Effect  = jsonEffect
	Warning = jsonWarning
)

// NewModel is what JSON writes.
func NewModel(r *analyze.Result) Model { return toJSON(r) }

// Command writes a program and its arguments as one would type them.
func Command(args []string) string { return command(args) }

// Begins reports whether point k is only there for a latency to begin at.
func Begins(r *analyze.Result, k int) bool { return begins(r, k) }

// Words says what an effect's verdict means.
func Words(e *analyze.Effect) string {
	_, text := reasonText(e)
	return text
}

// Gain writes an estimate with half of its interval, as the tables do.
func Gain(e analyze.Estimate, known bool) string { return gain(e, known) }

// NewTarget is target i of the model.
func NewTarget(r *analyze.Result, i int) Target {
	return targetJSON(r, &r.Targets[i], r.Targets[i].Unit.Name)
}

// Beside gives what stands beside a unit's name: of a line its function, for instance.
func Beside(r *analyze.Result) func(profile.Unit) string {
	file := fileNames(unitsOf(r))
	return func(u profile.Unit) string { return functionOf(u, file) }
}

// PointText and LatencyText say what is known without speed-ups.
func PointText(p *analyze.Point) string     { return pointText(p) }
func LatencyText(l *analyze.Latency) string { return latencyText(l) }
