// Package simulate runs a recording again, in a simulated machine, with something changed: code that is faster, waits
// that are shorter, more cores or fewer. It needs no privileges and no machine of the target's kind.
//
//	m, err := simulate.New(recording)
//	doubt := m.Check()                         // does the simulated machine do what was recorded?
//	same := m.Run(simulate.Change{})           // must come out as recorded; see Machine.Check
//	faster := m.Run(simulate.Change{Faster: []simulate.Faster{{Unit: u, By: 0.5}}})
//
// New turns each window of the recording into programs: the actions of each thread and goroutine in program order.
// Run runs the programs on simulated cores. A wait ends when the wake-up that ended it in the recording has happened;
// a wait for something outside ends as long after its begin as recorded. Where threads arrive at an object in another
// order than recorded, the object decides: package simulate infers from the recording whether it is a lock, a barrier
// or a queue.
//
// The files say what they answer: build.go, goroutines.go (what did each thread do, in which order?), segments.go
// (which share of a stretch of code is in a unit?), waits.go (what ends a wait, and when?), outside.go (when does
// the next request come?), objects.go, gates.go,
// locks.go (what does an object make threads wait for?), servers.go (which client is answered next?), flushes.go (which
// threads are interrupted?), cores.go (which thread gets which core?), polls.go (what
// can nobody know?), play.go (the simulation), meetings.go (how do threads wait for each other in it?), device.go (what
// takes longer on another machine?), check.go (does it agree with the recording?).
//
// # Limits
//
//   - A thread that polls another one, by short sleeps or by looking again and again, is found, and Trusted refuses
//     (polls.go). Where a recording does not say that a loop waits (Frame.Spins), it is taken to work.
//   - Operations of a lock or a queue that made nobody wait are not in a recording. Those of locks are written where
//     visits, or the rest of what is known, say that they were; Machine.Check says how many. A lock that nobody waited
//     for in the recording makes nobody wait in a simulation.
//   - What other programs do is simulated as far as a thread had to wait for the core that it then got: it has to wait
//     again, for as long in terms of what it runs. A core that they have and that no thread waits for counts as free.
//   - All cores are equally fast, whatever runs on their siblings, and caches are as warm as they were recorded.
//   - A program outside (a client, a server) answers as long after the target's wait began as recorded, unless its
//     times show several clients, or a pace of their own (outside.go). How long it takes does not change.
//   - Goroutines of all processes share one place in each core's queue, and no GOMAXPROCS below the number of cores.
package simulate

import "whatif/internal/recording"

// Unit is what can be faster: code, waits, or both.
type Unit struct {
	Stacks  []bool                  // by the number of the stack: a thread that runs there is in the unit
	Places  []bool                  // by the number of the place: a thread that waits there waits in the unit. Nil: all
	Classes [recording.Classes]bool // which of the waits at Places are meant. Waits for a core cannot be shorter.
}

// Faster is a unit that takes less time. A wait that another thread ends can end before that thread has come so far:
// the program is then taken to need only a part of what it waited for.
type Faster struct {
	Unit Unit
	By   float64 // the share of the unit's time that is gone: 0 to 1. Negative: it takes longer.
}

// Change is what is different in a simulated run.
type Change struct {
	Faster  []Faster // a stack in several units gets the effects of all, one after the other
	Cores   int      // 0: as many as recorded
	Device  Device   // the units of Faster are faster on top of it
	Held    bool     // where Flooded says so: requests come no sooner than they did
	Flushes bool     // where Flushes says so: threads gain as much as they can from fewer interrupts by others
	Costs   bool     // with what recording took of the threads' time, as it was recorded
}

// Outcome is what a simulated run did.
type Outcome struct {
	Windows []WindowOutcome // as those of the recording
}

// WindowOutcome is what happened in one window. Times are ns since its begin.
//
// The window is over as soon as one of the threads that wake or wait for others has done all that was recorded of it:
// it would go on, but how is not known. A thread that has nothing to do with others begins again from the window's
// begin. So len(Visits[p])/Length is the rate of point p, whatever became faster.
type WindowOutcome struct {
	Length int64                    // how long the window was simulated
	Busy   int64                    // ns in which cores ran the target's threads, added up
	Waited [recording.Classes]int64 // ns of waits that are over, added up over threads
	Visits [][]Visit                // by point, in order of time

	// Assumed is the part of Waited that is not in the recording: waits of threads that came sooner than recorded, for the
	// last one at a barrier, for room in a queue, or for a lock. If it is large, the outcome depends on what was inferred
	// about objects.
	Assumed int64

	// Stalls is how often all threads waited for each other, and one was let go; Stuck: none could be. Then the meaning
	// of an object is wrong, and so is what comes after.
	Stalls int
	Stuck  bool
}

// Understood reports whether the threads of a run got on with each other: at most one in so many waits for another
// thread had to be ended by force.
func (m *Machine) Understood(o Outcome) bool {
	stalls := 0
	for i := range o.Windows {
		if o.Windows[i].Stuck {
			return false
		}
		stalls += o.Windows[i].Stalls
	}
	return stallsOnce*stalls <= m.meetings
}

// stallsOnce is how many waits there must be for one that is ended by force: it moves one round, and a hundredth of
// the rounds is less than what estimates are known to.
const stallsOnce = 100

// Visit is a visit to a point. A request that begins and ends is one visit, at its end.
type Visit struct {
	Time     int64 // when it was, simulated
	Recorded int64 // when it was, recorded. A thread that has begun again goes on behind the window's end.
	Latency  int64 // No: unknown, or the point has none
}
