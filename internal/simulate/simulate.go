// Package simulate runs a recording again, in a simulated machine, with something changed: code that is faster, waits
// that are shorter, more cores or fewer. It needs no privileges and no machine of the target's kind.
//
//	m, err := simulate.New(recording)
//	same := m.Run(simulate.Change{})           // must come out as recorded; see Machine.Check
//	faster := m.Run(simulate.Change{Faster: []simulate.Faster{{Unit: u, By: 0.5}}})
package simulate

import "whatif/internal/recording"

// Unit is what can be faster: code, waits, or both.
type Unit struct {
	Stacks  []bool                  // by the number of the stack: a thread that runs there is in the unit
	Places  []bool                  // by the number of the place: a thread that waits there waits in the unit
	Classes [recording.Classes]bool // which of the waits at Places are meant
}

// Faster is a unit that takes less time.
type Faster struct {
	Unit Unit
	By   float64 // the share of the unit's time that is gone: 0 to 1. Negative: it takes longer.
}

// Change is what is different in a simulated run.
type Change struct {
	Faster []Faster // a stack in several units gets the effects of all, one after the other
	Cores  int      // 0: as many as recorded
}

// Outcome is what a simulated run did.
type Outcome struct {
	Windows []WindowOutcome // as those of the recording
}

// WindowOutcome is what happened in one window. Times are ns since its begin.
type WindowOutcome struct {
	Length int64                    // until the last recorded action was done
	Busy   int64                    // ns in which cores ran the target's threads, added up
	Waited [recording.Classes]int64 // ns of waits that are over, added up over threads
	Visits [][]Visit                // by point, in order of time
}

// Visit is a visit to a point. A request that begins and ends is one visit, at its end.
type Visit struct {
	Time     int64 // when it was, simulated
	Recorded int64 // when it was, recorded
	Latency  int64 // No: unknown, or the point has none
}
