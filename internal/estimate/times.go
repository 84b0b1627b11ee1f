package estimate

import "whatif/internal/recording"

// classNames are the classes of waiting as the command line and profiles name them.
var classNames = [recording.Classes]string{
	recording.Other: "other", recording.Disk: "disk", recording.Net: "net", recording.Sleep: "sleep",
	recording.Lock: "lock", recording.Child: "child", recording.CPU: "cpu",
}

// waited is ns of waiting by class.
type waited [recording.Classes]int64

// times is where the threads of a recording spent their time.
type times struct {
	length  int64    // ns of all windows
	period  int64    // ns of running that a sample stands for
	total   int64    // samples of the target, those without a stack included
	samples []int64  // by stack
	waits   []waited // by place: of waits that ended in their window
	all     waited   // of all waits, those without a place included
}

// A state is what a thread does at a moment of a recording.
type state struct {
	condition recording.Condition
	known     bool
	since     int64
	place     int32
}

// measureTimes adds up samples and waits. A wait that has not ended with its window has no class and is left out.
func measureTimes(r *recording.Recording) times {
	t := times{period: r.Period, samples: make([]int64, len(r.Stacks)), waits: make([]waited, len(r.Places))}
	states := make([]state, len(r.Threads))
	for i := range r.Windows {
		w := &r.Windows[i]
		t.length += w.End - w.Begin
		clear(states)
		for j := range w.Events {
			t.take(&w.Events[j], states)
		}
	}
	return t
}

// take adds what one event says.
func (t *times) take(e *recording.Event, states []state) {
	at := func(thread int32) *state {
		if thread < 0 || int(thread) >= len(states) {
			return &state{}
		}
		return &states[thread]
	}
	switch e.Kind {
	case recording.Sample:
		t.total++
		if e.Stack >= 0 && int(e.Stack) < len(t.samples) {
			t.samples[e.Stack]++
		}
	case recording.State:
		*at(e.Thread) = state{e.Condition, true, e.Time, e.Place}
	case recording.Switch:
		*at(e.Thread) = state{e.Condition, true, e.Time, e.Place}
		to := at(e.Other)
		if to.known && to.condition == recording.Runnable {
			t.all[recording.CPU] += e.Time - to.since
		}
		*to = state{recording.Running, true, e.Time, recording.No}
	case recording.Fork:
		*at(e.Other) = state{recording.Runnable, true, e.Time, recording.No}
	case recording.Park:
		*at(e.Thread) = state{recording.Waiting, true, e.Time, e.Place}
	case recording.Wake:
		t.end(at(e.Other), e.Time, e.Class)
	case recording.Ready:
		t.end(at(e.Other), e.Time, classOfReady(e))
		at(e.Other).known = false // which thread runs a goroutine, and when, is no wait for a core
	}
}

// end ends a wait.
func (t *times) end(s *state, now int64, class recording.Class) {
	if s.known && s.condition == recording.Waiting && class < recording.Classes {
		t.all[class] += now - s.since
		if s.place >= 0 && int(s.place) < len(t.waits) {
			t.waits[s.place][class] += now - s.since
		}
	}
	*s = state{recording.Runnable, true, now, recording.No}
}

// classOfReady is the class of a goroutine's wait, which the kernel does not see: its cause tells.
func classOfReady(e *recording.Event) recording.Class {
	switch {
	case e.Class != recording.Other:
		return e.Class
	case e.Cause == recording.ByThread:
		return recording.Lock
	case e.Cause == recording.ByTimer:
		return recording.Sleep
	}
	return recording.Net
}

// percent is a time as a percentage of the recorded time.
func (t *times) percent(ns int64) float64 {
	if t.length <= 0 {
		return 0
	}
	return 100 * float64(ns) / float64(t.length)
}
