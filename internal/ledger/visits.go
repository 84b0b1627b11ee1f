package ledger

import "time"

// visitCounts is the part of a Ledger that reads what was counted of points, and of the latencies between them
// (span.go).
type visitCounts struct {
	*kernelSide
	sources *sources
	spans   []span
}

// Visits is how often threads of the target have visited a point since the start.
func (v *visitCounts) Visits(point int) int64 {
	return int64(load(&v.page.visits[point])) + v.sources.earlyVisits(point)
}

// Spent is how much time it took to count the point's visits since the start.
func (v *visitCounts) Spent(point int) time.Duration {
	return time.Duration(load(&v.page.spent[point]))
}
