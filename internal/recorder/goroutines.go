package recorder

import (
	"slices"

	"whatif/bpf"
	"whatif/internal/recording"
)

// Records about goroutines say which thread runs one, that one parks, and that one is put into a run queue
// (bpf/record/goroutines.h). This file makes events of them: which goroutine did what.

// never is when something happens that does not.
const never = int64(-1)

// goroutineState is what a goroutine does at some moment of a window.
type goroutineState struct {
	condition     recording.Condition
	place, object int32 // where it waits
	parked        int64 // when it began to wait
	network       bool  // the network has made it ready before
}

// carried is what is known of the goroutine that a thread runs.
type carried struct {
	known     bool  // until the first record about it, a thread may run one that is not known
	goroutine int32 // its number + 1; 0: none
}

// goroutineIn is the address of the goroutine that a record is about.
func goroutineIn(r *record) uint64 { return uint64(r.Extra)<<32 | uint64(r.Other) }

// openGoroutines is open for goroutines. Those that a thread runs are runnable before the thread's first event.
func (a *arranger) openGoroutines() {
	for g, s := range a.goroutines {
		a.stateOfGoroutine(g, s)
	}
	var carriers []*threadState
	for _, s := range a.threads {
		if s.carries.goroutine > 0 && s.condition != recording.Ended {
			carriers = append(carriers, s)
		}
	}
	slices.SortFunc(carriers, func(x, y *threadState) int { return int(x.number - y.number) })
	for _, s := range carriers {
		if s.condition == recording.Running {
			a.addRun(s, s.carries.goroutine-1, a.begin, recording.Running)
			continue
		}
		// It is in a system call, or waits for a core: its goroutine is told again by the next record.
		s.carries = carried{}
	}
}

func (a *arranger) stateOfGoroutine(g int32, s *goroutineState) {
	e := blank(recording.State, a.begin)
	e.Thread, e.Condition = g, s.condition
	switch s.condition {
	case recording.Running:
		e.Condition = recording.Runnable // a Run follows
	case recording.Waiting:
		e.Place, e.Object = s.place, s.object
	}
	a.states = append(a.states, e)
}

// ofGoroutine is the state of a goroutine. One that is met for the first time was in the condition that is given when
// the window began.
func (a *arranger) ofGoroutine(g int32, was recording.Condition) *goroutineState {
	s := a.goroutines[g]
	if s == nil {
		s = &goroutineState{condition: was, place: recording.No, object: recording.No}
		a.goroutines[g] = s
		if a.live {
			a.stateOfGoroutine(g, s)
		}
	}
	return s
}

// addRun adds that a thread begins to run a goroutine, or, for No, none; and what has become of the one that it ran.
func (a *arranger) addRun(t *threadState, g int32, at int64, c recording.Condition) {
	e := blank(recording.Run, at)
	e.Thread, e.CPU, e.Other, e.Condition = t.number, int16(t.cpu), g, c
	if at < t.ran || t.condition != recording.Running {
		e.CPU = recording.No
	}
	a.add(e)
	t.carries = carried{known: true, goroutine: g + 1}
}

// takeGoroutine takes the next record, which is about a goroutine. Its thread runs.
func (a *arranger) takeGoroutine(r *record, at int64) {
	t := a.of(r.Thread, recording.Running)
	if bpf.RecordRecordKind(r.Kind) == bpf.RecordRecordKindRECORD_READY {
		a.takeReady(r, t, at)
		return
	}
	g := a.numbers.goroutine(r.Process, goroutineIn(r))
	switch condition := recording.Condition(r.Condition); {
	case bpf.RecordRecordKind(r.Kind) == bpf.RecordRecordKindRECORD_PARK:
		a.takePark(r, t, g, at)
	case condition == recording.Running:
		a.takeRun(t, g, at)
	default:
		s := a.ofGoroutine(g, recording.Runnable)
		a.carriedSoFar(t, g)
		a.addRun(t, recording.No, at, condition)
		s.condition = recording.Runnable
		if condition == recording.Ended {
			delete(a.goroutines, g)
			a.numbers.forget(r.Process, goroutineIn(r))
		}
	}
}

// carriedSoFar adds, before the first record about a thread's goroutine, that the thread has run it all the time.
func (a *arranger) carriedSoFar(t *threadState, g int32) {
	if t.carries.known || t.ran == never {
		return
	}
	at := t.ran
	e := blank(recording.Run, at)
	e.Thread, e.Other = t.number, g
	a.add(e)
	a.goroutines[g].condition = recording.Running
	t.carries = carried{known: true, goroutine: g + 1}
}

// takeRun: a thread begins to run a goroutine.
func (a *arranger) takeRun(t *threadState, g int32, at int64) {
	s := a.ofGoroutine(g, recording.Runnable)
	if s.condition == recording.Waiting {
		a.readyUnseen(t, g, s, at)
	}
	t.woken = wakeUp{}
	if old := t.carries.goroutine - 1; old >= 0 && old != g {
		if s := a.goroutines[old]; s != nil && s.condition == recording.Running {
			s.condition = recording.Runnable
		}
	}
	s.condition = recording.Running
	a.addRun(t, g, at, recording.Running)
}

// readyUnseen adds what lets a goroutine go on that waited, and was not seen to be made ready: the network. If a
// goroutine has woken the thread that now runs this one, it has sent something. Otherwise no thread slept, and the
// sender is found at the end, if at all.
func (a *arranger) readyUnseen(t *threadState, g int32, s *goroutineState, at int64) {
	e := blank(recording.Ready, at)
	e.Other, e.CPU, e.Cause, e.Class, e.Object = g, int16(t.cpu), recording.ByDevice, recording.Net, s.object
	if t.woken.by > 0 && t.woken.at > s.parked {
		e.Thread, e.Cause, e.Class, e.Time = t.woken.by-1, recording.ByThread, recording.Lock, t.woken.at
		a.add(e)
		return
	}
	u := unseen{event: a.add(e), g: g}
	s.network = true
	for other, o := range a.goroutines {
		if o.network && o.condition == recording.Waiting && o.parked > s.parked && len(u.senders) < mostSenders {
			u.senders = append(u.senders, sender{other, o.parked})
		}
	}
	a.unseen = append(a.unseen, u)
}

// unseen is an event by which a goroutine is made ready by the network. senders are those that have begun to wait for
// the network since this one has.
type unseen struct {
	event   int
	g       int32
	senders []sender
}

type sender struct {
	g      int32
	parked int64
}

// Two goroutines ask and answer each other if each of them, whenever it goes on, finds that the other one has waited
// since it has waited itself: so they never run at once. This must be so in so many cases at least, and in all but one
// in twenty: windows cut some.
const (
	fewAnswers  = 20
	mostSenders = 64 // that are looked at
)

// findSenders finds for goroutines that the network has made ready which one has sent something: before it began to
// wait for the answer.
func (a *arranger) findSenders() {
	all, hits := map[int32]int{}, map[[2]int32]int{}
	for _, u := range a.unseen {
		all[u.g]++
		for _, s := range u.senders {
			hits[[2]int32{u.g, s.g}]++
		}
	}
	answers := func(g, other int32) bool {
		return all[g] >= fewAnswers && 20*hits[[2]int32{g, other}] >= 19*all[g]
	}
	for _, u := range a.unseen {
		found := slices.DeleteFunc(slices.Clone(u.senders), func(s sender) bool {
			return !answers(u.g, s.g) || !answers(s.g, u.g)
		})
		if partner, ok := a.numbers.partners[u.g]; ok && len(found) == 0 { // as in the window before
			found = slices.DeleteFunc(u.senders, func(s sender) bool { return s.g != partner })
		}
		if len(found) == 1 {
			a.numbers.partners[u.g] = found[0].g
			e := &a.events[u.event]
			e.Thread, e.Cause, e.Class, e.Time, e.CPU = found[0].g, recording.ByThread, recording.Lock,
				max(found[0].parked, a.begin), recording.No
		}
	}
}

// wakeUp is which goroutine has woken a thread, and when.
type wakeUp struct {
	by int32 // its number + 1; 0: none
	at int64
}

func (a *arranger) takePark(r *record, t *threadState, g int32, at int64) {
	s := a.ofGoroutine(g, recording.Runnable)
	a.carriedSoFar(t, g)
	if t.carries.goroutine != g+1 {
		a.addRun(t, g, at, recording.Running)
		a.repaired++
	}
	e := blank(recording.Park, at)
	e.Thread, e.CPU = g, int16(r.Cpu)
	e.Place, e.Object = a.numbers.placeOfGoroutine(r.Place), a.numbers.object(r)
	a.add(e)
	s.condition, s.place, s.object, s.parked = recording.Waiting, e.Place, e.Object, at
	t.carries.goroutine = 0
}

// takeReady: a goroutine is put into a run queue. If a thread that runs no goroutine does this before others in the
// queue, a timer has fired; otherwise it only moves one from another queue. A goroutine that was never seen is new.
func (a *arranger) takeReady(r *record, t *threadState, at int64) {
	looks := t.carries.known && t.carries.goroutine == 0
	if looks && r.Class == 0 {
		return
	}
	g, known := a.numbers.knownGoroutine(r.Process, goroutineIn(r))
	if !known {
		g = a.numbers.goroutine(r.Process, goroutineIn(r))
		a.goroutines[g] = &goroutineState{condition: recording.Runnable, place: recording.No, object: recording.No}
		e := blank(recording.Fork, at)
		e.Thread, e.CPU, e.Other, e.Place = t.number, int16(r.Cpu), g, a.numbers.placeOfGoroutine(r.Place)
		a.add(e)
		return
	}
	s := a.ofGoroutine(g, recording.Waiting)
	if s.condition != recording.Waiting {
		return
	}
	e := blank(recording.Ready, at)
	e.Other, e.CPU, e.Object = g, int16(r.Cpu), s.object
	switch {
	case looks:
		e.Cause, e.Class = recording.ByTimer, recording.Sleep
	default:
		e.Cause, e.Class = recording.ByThread, recording.Lock
		e.Thread = t.carries.goroutine - 1
		e.Place = a.numbers.placeOfGoroutine(r.Place)
	}
	a.add(e)
	s.condition = recording.Runnable
}
