package estimate

import (
	"cmp"
	"slices"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// asRecorded is the outcome that a perfect simulation without a change would have: the visits as they were recorded.
func asRecorded(r *recording.Recording) simulate.Outcome {
	type begin struct {
		point, thread int32
		key           uint64
		process       int32 // that the key is of
	}
	o := simulate.Outcome{Windows: make([]simulate.WindowOutcome, len(r.Windows))}
	for i := range r.Windows {
		w, out := &r.Windows[i], &o.Windows[i]
		out.Length = w.End - w.Begin
		out.Visits = make([][]simulate.Visit, len(r.Points))
		begun := map[begin]int64{}
		for j := range w.Events {
			e := &w.Events[j]
			if e.Kind != recording.Visit || e.Point < 0 || int(e.Point) >= len(r.Points) {
				continue
			}
			id := begin{point: e.Point, thread: e.Thread}
			if e.Key != 0 { // it may end in another thread
				id = begin{point: e.Point, thread: recording.No, key: e.Key, process: r.Threads[e.Thread].Process}
			}
			if e.Role == recording.Begin {
				begun[id] = e.Time
				continue
			}
			v := simulate.Visit{Time: e.Time - w.Begin, Recorded: e.Time - w.Begin, Latency: recording.No}
			if at, ok := begun[id]; ok && e.Role == recording.End {
				v.Latency = e.Time - at
				delete(begun, id)
			}
			out.Visits[e.Point] = append(out.Visits[e.Point], v)
		}
		for k := range out.Visits {
			slices.SortStableFunc(out.Visits[k], func(a, b simulate.Visit) int { return cmp.Compare(a.Time, b.Time) })
		}
	}
	return o
}
