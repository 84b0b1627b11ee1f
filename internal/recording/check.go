package recording

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

const (
	maxCores  = 1 << 15 // as CPU is counted
	maxLength = 1 << 50 // ns, 13 days: sums over some thousand threads stay numbers
	noKind    = Ready + 1
)

var kindNames = [noKind]string{"state", "switch", "wake", "sample", "visit", "fork", "run", "park", "ready"}

// Check says whether a recording is well-formed: each number is in its range, and each event can follow on those before
// it. Of the fields of an event only those are looked at that its kind uses. The error says where, and what is wrong.
// It names threads by number, so it can be printed, whatever the file.
//
// In each window:
//   - Events are in order of time, within the window. State events come first, one for a thread.
//   - A thread exists if it has a State, or a Fork has made it. One that has ended does nothing more.
//   - A core runs one thread, and a thread runs on one core. Idle and Stranger may be taken for each other.
//   - A thread that acts (leaves its core, wakes, visits, makes a thread, is sampled) runs.
//   - A thread that waits is woken before it runs again. A Wake of a thread that does not wait means nothing; the
//     kernel has them.
//   - A goroutine is run by one thread at a time, and was made ready since it waited. Its State is Runnable if a Run
//     follows.
func Check(r *Recording) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

func (r *Recording) check() error {
	if err := r.checkTables(); err != nil {
		return err
	}
	m := newMachine(r)
	end := int64(0)
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Begin < end || w.End < w.Begin || w.End > r.Length {
			return fmt.Errorf("window %d is from %d to %d ns, want %d to %d", i, w.Begin, w.End, end, r.Length)
		}
		end = w.End
		if err := m.checkWindow(w); err != nil {
			return fmt.Errorf("window %d, %w", i, err)
		}
	}
	return nil
}

func (m *machine) checkWindow(w *Window) error {
	m.start()
	last, states := w.Begin, true
	for i := range w.Events {
		e := &w.Events[i]
		err := m.r.checkFields(e)
		if err == nil {
			states = states && e.Kind == State
			switch {
			case e.Time < last:
				err = fmt.Errorf("it is before %d ns, and should not", last)
			case e.Time > w.End:
				err = fmt.Errorf("it is after the window's end at %d ns", w.End)
			case e.Kind == State && !states:
				err = errors.New("it is not at the window's begin")
			default:
				err = m.allows(e)
			}
		}
		if err != nil {
			return eventError(i, e, err)
		}
		m.take(e)
		last = e.Time
	}
	return nil
}

func eventError(i int, e *Event, err error) error {
	kind := fmt.Sprintf("kind %d", e.Kind)
	if e.Kind < noKind {
		kind = kindNames[e.Kind]
	}
	if e.CPU >= 0 {
		return fmt.Errorf("event %d (%s at %.6f s on core %d): %w", i, kind, float64(e.Time)/1e9, e.CPU, err)
	}
	return fmt.Errorf("event %d (%s at %.6f s): %w", i, kind, float64(e.Time)/1e9, err)
}

// among says that a number is in a list, or perhaps No.
func among(what string, n int32, list int, orNo bool) error {
	if n == No && orNo || n >= 0 && int(n) < list {
		return nil
	}
	return fmt.Errorf("%s %d, there are %d", what, n, list)
}

func between(what string, n, low, high int64) error {
	if n < low || n > high {
		return fmt.Errorf("%s is %d, want %d to %d", what, n, low, high)
	}
	return nil
}

// checkTables checks all but the windows.
// maxCost bounds what it takes to record an event, in ns.
const maxCost = 1e6

func (r *Recording) checkTables() error {
	l := r.Losses
	err := cmp.Or(
		between("number of cores", int64(r.Cores), 1, maxCores),
		between("period", r.Period, 0, maxLength),
		between("begin", r.Began, 0, math.MaxInt64),
		between("length", r.Length, 0, maxLength),
		between("size of caches", r.Cache, 0, math.MaxInt64),
		between("lost events", l.Events, 0, math.MaxInt64),
		between("repaired events", l.Repaired, 0, math.MaxInt64),
		between("ns left out", l.LeftOut, 0, maxLength),
		between("ns outside", l.Outside, 0, maxLength),
		between("stops", l.Stops, 0, math.MaxInt64),
		between("cost of a switch", r.Costs.Switch, 0, maxCost),
		between("cost of a wake-up", r.Costs.Wake, 0, maxCost),
		between("cost of a sample", r.Costs.Sample, 0, maxCost),
		between("cost of a visit", r.Costs.Visit, 0, maxCost),
		between("cost of a goroutine's event", r.Costs.Goroutine, 0, maxCost),
		between("number of threads", int64(len(r.Threads)), 0, math.MaxInt32),
		between("number of stacks", int64(len(r.Stacks)), 0, math.MaxInt32))
	if err != nil {
		return err
	}
	for i := range r.Threads {
		if err := r.Threads[i].check(); err != nil {
			return fmt.Errorf("thread %d: %w", i, err)
		}
	}
	for i, o := range r.Objects {
		if o.Kind > Channel || o.Process < No {
			return fmt.Errorf("object %d: kind %d of process %d", i, o.Kind, o.Process)
		}
	}
	for i, s := range r.Stacks {
		for _, f := range s {
			if err := among("frame", f, len(r.Frames), false); err != nil {
				return fmt.Errorf("stack %d: %w", i, err)
			}
		}
	}
	for i, p := range r.Places {
		if err := among("stack", p.Stack, len(r.Stacks), true); err != nil {
			return fmt.Errorf("place %d: %w", i, err)
		}
	}
	for i, f := range r.Frames {
		if f.Line < 0 {
			return fmt.Errorf("frame %d: line %d", i, f.Line)
		}
		if f.Access > BehindAccess || f.Nearby > 101 {
			return fmt.Errorf("frame %d: access %d, %d nearby", i, f.Access, f.Nearby)
		}
	}
	return nil
}

func (t *Thread) check() error {
	if t.ID < No || t.Process < No || t.Nice < -20 || t.Nice > 19 {
		return fmt.Errorf("id %d, process %d, nice %d", t.ID, t.Process, t.Nice)
	}
	for _, cpu := range t.Allowed {
		if cpu < 0 {
			return fmt.Errorf("core %d is allowed", cpu)
		}
	}
	return nil
}

// checkFields checks those fields of an event that its kind uses.
func (r *Recording) checkFields(e *Event) error {
	if e.CPU < No {
		return fmt.Errorf("core %d", e.CPU)
	}
	switch e.Kind {
	case State:
		return cmp.Or(r.isThread(e.Thread), r.checkCondition(e))
	case Switch:
		if e.CPU == No {
			return errors.New("its core is not known")
		}
		return cmp.Or(r.isOnCore(e.Thread), r.isOnCore(e.Other), different(e), r.checkCondition(e))
	case Wake:
		return cmp.Or(r.isKernels(e.Other), r.checkWaker(e))
	case Sample:
		return cmp.Or(r.isKernels(e.Thread), among("stack", e.Stack, len(r.Stacks), true))
	case Visit:
		if e.Role > End {
			return fmt.Errorf("role %d", e.Role)
		}
		return cmp.Or(r.isThread(e.Thread), among("point", e.Point, len(r.Points), false))
	case Fork:
		return cmp.Or(r.isThread(e.Thread), r.isThread(e.Other), different(e), r.isPlace(e))
	case Run:
		return cmp.Or(r.isKernels(e.Thread), r.isGoroutine(e.Other, true))
	case Park:
		return cmp.Or(r.isGoroutine(e.Thread, false), r.isPlace(e))
	case Ready:
		if e.Cause > ByDevice {
			return fmt.Errorf("cause %d", e.Cause)
		}
		return cmp.Or(r.isGoroutine(e.Other, false), r.isGoroutine(e.Thread, true), r.isPlace(e))
	}
	return fmt.Errorf("kind %d is not known", e.Kind)
}

func different(e *Event) error {
	if e.Thread >= 0 && e.Thread == e.Other {
		return fmt.Errorf("both are thread %d", e.Thread)
	}
	return nil
}

// checkCondition checks the condition of a State, or of the thread that leaves in a Switch.
func (r *Recording) checkCondition(e *Event) error {
	switch {
	case e.Kind == Switch && e.Thread < 0:
		return nil // of no thread of the target
	case e.Condition > Ended, e.Condition == Running && e.Kind == Switch:
		return fmt.Errorf("condition %d", e.Condition)
	case e.Condition == Waiting:
		return r.isPlace(e)
	case e.Condition == Running && e.CPU == No && e.Thread >= 0 && int(e.Thread) < len(r.Threads) &&
		!r.Threads[e.Thread].Goroutine:
		return errors.New("it runs on no core")
	}
	return nil
}

func (r *Recording) checkWaker(e *Event) error {
	if e.Cause > ByDevice || e.Class >= Classes {
		return fmt.Errorf("cause %d, class %d", e.Cause, e.Class)
	}
	if e.Cause != ByThread {
		return nil
	}
	return cmp.Or(r.isKernels(e.Thread), r.isPlace(e))
}

func (r *Recording) isThread(n int32) error { return among("thread", n, len(r.Threads), false) }

func (r *Recording) isKernels(n int32) error {
	if err := r.isThread(n); err != nil {
		return err
	}
	if r.Threads[n].Goroutine {
		return fmt.Errorf("thread %d is a goroutine", n)
	}
	return nil
}

func (r *Recording) isGoroutine(n int32, orNo bool) error {
	if err := among("goroutine", n, len(r.Threads), orNo); err != nil || n == No {
		return err
	}
	if !r.Threads[n].Goroutine {
		return fmt.Errorf("thread %d is no goroutine", n)
	}
	return nil
}

// isOnCore says that a core can run this: a thread of the kernel, nothing, or a stranger.
func (r *Recording) isOnCore(n int32) error {
	if n == Idle || n == Stranger {
		return nil
	}
	return r.isKernels(n)
}

func (r *Recording) isPlace(e *Event) error {
	return cmp.Or(among("place", e.Place, len(r.Places), true), among("object", e.Object, len(r.Objects), true))
}
