package report

import (
	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// The JSON report as Go types, for programs that show the same in another form.
type (
	Model   = jsonReport
	Run     = jsonRun
	Point   = jsonPoint
	Latency = jsonLatency
	Target  = jsonTarget
	Effect  = jsonEffect
	Warning = jsonWarning
)

// NewModel gives what JSON writes, without details that no number depends on.
func NewModel(r *analyze.Result) Model {
	model := toJSON(r)
	model.Warnings = warnings(r.Warnings)
	return model
}

// Command writes a program and its arguments about as a user would type them.
func Command(args []string) string { return command(args) }

// BeginsLatency says whether point k only is there for a latency to begin at.
func BeginsLatency(r *analyze.Result, k int) bool { return begins(r, k) }

// Words explains an effect's verdict.
func Words(e *analyze.Effect) string {
	_, text := verdictText(e)
	return text
}

// GainAt is the gain at a speed-up as experiments say or, if they do not, as a recording says. Too few experiments say
// nothing.
func GainAt(e *analyze.Effect, speedup int) (g analyze.Estimate, known, estimated bool) {
	if g, known = e.At(speedup); known && !e.TooFew() {
		return g, true, false
	}
	g, estimated = e.EstimateAt(speedup)
	return g, estimated, estimated
}

// IsBound says whether a gain of an effect is an upper bound: the true one may be anything from 0 up to it.
func IsBound(e *analyze.Effect, estimated bool) bool {
	if estimated {
		return e.EstimateBound
	}
	return e.UpperBound
}

// GainCell is the gain of an effect at a speed-up, as in the tables: estimates are marked.
func GainCell(e *analyze.Effect, speedup int) string { return gainCell(e, speedup) }

// RecordedText says from what estimates are.
func RecordedText(r *analyze.Result) string { return recordedText(r) }

// NewTarget is target i of the model.
func NewTarget(r *analyze.Result, i int) Target {
	return targetJSON(r, &r.Targets[i], r.Targets[i].Unit.Name)
}

// Beside returns the text beside a unit's name, such as the function of a line.
func Beside(r *analyze.Result) func(profile.Unit) string {
	file := fileNames(unitsOf(r))
	return func(u profile.Unit) string { return functionOf(u, file) }
}

// PointText and LatencyText describe a point or a latency without speed-ups.
func PointText(p *analyze.Point) string     { return pointText(p, true) }
func LatencyText(l *analyze.Latency) string { return latencyText(l) }
