package recording

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Repair makes a recording well-formed. The kernel now and then loses a switch, so that a thread runs that was never
// switched in. What follows from other events is added (Losses.Repaired); where nothing follows, the window is split
// around the stretch (Losses.LeftOut). The rules:
//
//   - The first event of a thread says what it did when the window began, whatever its State says: states are read
//     while threads go on. A thread without a State gets one. If it was switched in first, it was made unseen, at a
//     moment that is not known: a stretch is left out there.
//   - A thread that acts on a core that is believed to be idle was switched in there as soon as it could run. If
//     another thread is believed to run there, one followed on the other, halfway between what is known of both.
//   - What becomes of a thread that left its core unseen is told by the next event that names it: if that is a Wake, it
//     waited; if it runs, it could.
//   - A Wake may come a moment before the Switch to which it belongs, as another core sends it: it is moved behind it.
//   - Where a thread goes on and was not woken, a stretch is left out: the cause is not known.
//   - A goroutine that goes on and was not made ready was so by the runtime, from outside: others are seen.
//
// Events that are out of order are sorted. An event whose numbers are out of range is an error, and nothing is changed.
func Repair(r *Recording) error {
	if err := r.checkTables(); err != nil {
		return fmt.Errorf("repairing recording: %w", err)
	}
	end := int64(0)
	for i := range r.Windows {
		w := &r.Windows[i]
		if w.Begin < end || w.End < w.Begin || w.End > r.Length {
			return fmt.Errorf("repairing recording: window %d is from %d to %d ns", i, w.Begin, w.End)
		}
		end = w.End
		for j := range w.Events {
			e := &w.Events[j]
			err := r.checkFields(e)
			if err == nil {
				err = between("time", e.Time, w.Begin, w.End)
			}
			if err != nil {
				return fmt.Errorf("repairing recording: window %d, %w", i, eventError(j, e, err))
			}
		}
	}
	var windows []Window
	m := newMachine(r)
	for i := range r.Windows {
		windows = append(windows, mendWindow(m, &r.Windows[i])...)
	}
	r.Windows = windows
	return nil
}

// LeaveOut takes a stretch of time out of a recording, in which events found no room. Windows are split around it; what
// threads do after it is what they did before it, as far as is known. Repair must follow.
func LeaveOut(r *Recording, from, to int64) {
	var windows []Window
	m := newMachine(r)
	for _, w := range r.Windows {
		begin, end := max(w.Begin, from), min(w.End, to)
		if begin >= end {
			windows = append(windows, w)
			continue
		}
		m.start()
		before := sort.Search(len(w.Events), func(i int) bool { return w.Events[i].Time > begin })
		after := sort.Search(len(w.Events), func(i int) bool { return w.Events[i].Time > end })
		for i := range w.Events[:after] {
			m.force(&w.Events[i], func(int32) Condition { return Runnable })
			m.take(&w.Events[i])
		}
		if begin > w.Begin {
			windows = append(windows, Window{w.Begin, begin, w.Events[:before:before]})
		}
		if end < w.End {
			windows = append(windows, Window{end, w.End, append(m.states(end), w.Events[after:]...)})
		}
		r.Losses.LeftOut += end - begin
	}
	r.Windows = windows
}

// mender repairs one window.
type mender struct {
	*machine
	w        *Window
	events   []Event   // without the states
	named    [][]int32 // by thread, the numbers of the events that name it
	revealed [][]int32 // by core, the numbers of the events that say what it runs
	acted    []int64   // by thread, when it was last seen running
	began    []int64   // by thread, since when it is in its condition
	seen     []int64   // by core, when it was last seen
	early    []int32   // by thread, the number of the last Wake that came while it ran; or No

	gone    map[int32]bool // events that were moved
	added   []addition     // in the piece
	piece   Window         // with its states only
	first   int            // the piece's first event
	pieces  []Window
	listed  bool // the window has states of threads
	broken  bool // the window was split
	repairs int64
}

// addition is an event that goes before one of those that were recorded.
type addition struct {
	before int
	event  Event
}

func mendWindow(machine *machine, w *Window) []Window {
	m := &mender{machine: machine, w: w, gone: make(map[int32]bool)}
	given := m.sort()
	m.index()
	m.start()
	m.listed = len(given) > 0
	states := m.initial(given)
	m.piece = Window{Begin: w.Begin, End: w.End, Events: states}
	for i := range states {
		m.machine.take(&states[i])
	}
	for i := range m.events {
		e := &m.events[i]
		if !m.mend(i, e) || m.allows(e) != nil {
			m.split(i)
		}
		m.note(i, e)
	}
	m.close(len(m.events), w.End)
	m.r.Losses.Repaired += m.repairs
	return m.pieces
}

// sort parts the states from the other events, and puts these in order.
func (m *mender) sort() (states []Event) {
	for i := range m.w.Events {
		if e := &m.w.Events[i]; e.Kind == State {
			states = append(states, *e)
		} else {
			m.events = append(m.events, *e)
		}
	}
	slices.SortStableFunc(m.events, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) })
	return states
}

// index finds which events name each thread and each core.
func (m *mender) index() {
	n := len(m.lives)
	m.named, m.acted, m.began = make([][]int32, n), make([]int64, n), make([]int64, n)
	m.early = make([]int32, n)
	cores := int16(0)
	for i := range m.w.Events {
		cores = max(cores, m.w.Events[i].CPU)
	}
	m.revealed, m.seen = make([][]int32, int(cores)+1), make([]int64, int(cores)+1)
	for c := range m.seen {
		m.seen[c] = m.w.Begin
	}
	for t := range n {
		m.acted[t], m.began[t], m.early[t] = m.w.Begin, m.w.Begin, No
	}
	for i := range m.events {
		e := &m.events[i]
		a, b := parties(e)
		for _, t := range []int32{a, b} {
			if t >= 0 {
				m.named[t] = append(m.named[t], int32(i))
			}
		}
		if m.reveals(e) {
			m.revealed[e.CPU] = append(m.revealed[e.CPU], int32(i))
		}
	}
}

// reveals says whether an event tells what its core runs.
func (m *mender) reveals(e *Event) bool {
	actor := m.actor(e)
	return e.Kind == Switch || e.CPU != No && actor >= 0 && !m.goroutine(actor)
}

// parties gives the threads that an event is about: that which acts, and the other.
func parties(e *Event) (actor, other int32) {
	actor, other = No, No
	switch e.Kind {
	case Switch, Fork, Run, Ready:
		actor, other = e.Thread, e.Other
	case Sample, Visit, Park:
		actor = e.Thread
	case Wake:
		other = e.Other
		if e.Cause == ByThread {
			actor = e.Thread
		}
	}
	return actor, other
}

// initial gives the states with which the window begins.
func (m *mender) initial(given []Event) []Event {
	said := make(map[int32]*Event)
	for i := range given {
		if e := &given[i]; said[e.Thread] == nil {
			said[e.Thread] = e
		}
	}
	taken := make(map[int16]bool) // cores
	var states []Event
	for t := range int32(len(m.lives)) {
		was := said[t]
		is, exists := m.stateOf(t, was)
		if exists && is.Condition == Running && !m.goroutine(t) {
			if taken[is.CPU] {
				is = state(m.w.Begin, t, m.becomes(t, 0))
			}
			taken[is.CPU] = true
		}
		if exists {
			states = append(states, is)
		}
		if exists != (was != nil) {
			m.repairs++
		} else if exists && (was.Condition != is.Condition || is.Condition == Running && was.CPU != is.CPU) {
			m.repairs++
		}
	}
	return states
}

// stateOf gives the state of a thread at the window's begin, by its first event and by the state that was recorded.
func (m *mender) stateOf(t int32, was *Event) (is Event, exists bool) {
	if was != nil {
		is, exists = *was, true
		is.Time = m.w.Begin
	}
	set := func(c Condition) (Event, bool) {
		if exists && is.Condition == c && c != Running {
			return is, true
		}
		return state(m.w.Begin, t, c), true
	}
	if len(m.named[t]) == 0 {
		if exists && is.Condition == Running && !m.goroutine(t) && !m.mayBegin(t, is.CPU) {
			return set(m.becomes(t, 0))
		}
		return is, exists
	}
	e := &m.events[m.named[t][0]]
	actor, _ := parties(e)
	switch {
	case e.Kind == Fork && actor != t:
		return Event{}, false
	case m.goroutine(t):
		return m.firstOfGoroutine(t, e, was)
	case actor == t && e.CPU != No && m.mayBegin(t, e.CPU):
		is, _ = set(Running)
		is.CPU = e.CPU
		return is, true
	case actor == t && e.CPU == No && exists:
		return is, true
	case !exists && actor != t && e.Kind == Switch && m.listed:
		return set(Waiting) // it was made unseen
	case actor == t, e.Kind == Switch:
		return set(Runnable)
	case !exists: // a Wake
		return set(Waiting)
	case is.Condition == Running && !m.mayBegin(t, is.CPU):
		return set(Waiting)
	}
	return is, true
}

// firstOfGoroutine is stateOf, of a goroutine: it has no core.
func (m *mender) firstOfGoroutine(t int32, e *Event, was *Event) (is Event, exists bool) {
	ready := e.Kind == Ready && e.Other == t
	switch {
	case was != nil && (ready || was.Condition == Running || was.Condition == Runnable):
		is = *was
		is.Time = m.w.Begin
	case ready:
		is = state(m.w.Begin, t, Waiting)
	default:
		is = state(m.w.Begin, t, Runnable)
	}
	return is, true
}

// mayBegin says whether a thread may be on a core as the window begins, by the first event of the core.
func (m *mender) mayBegin(t int32, cpu int16) bool {
	if len(m.revealed[cpu]) == 0 {
		return true
	}
	actor, _ := parties(&m.events[m.revealed[cpu][0]])
	return actor == t
}

// becomes tells in which condition a thread was that left its core unseen before event i.
func (m *mender) becomes(t int32, i int) Condition {
	for _, k := range m.after(m.named[t], i) {
		e := &m.events[k]
		if m.gone[k] {
			continue
		}
		if actor, _ := parties(e); actor == t || e.Kind == Switch {
			return Runnable
		}
		break // a Wake
	}
	return Waiting
}

// after gives the part of a list of numbers of events that are not before event i.
func (m *mender) after(list []int32, i int) []int32 {
	k, _ := slices.BinarySearch(list, int32(i))
	return list[k:]
}

// mend adds what must have been before event i; it says whether that follows.
func (m *mender) mend(i int, e *Event) bool {
	if t := m.actor(e); t >= 0 {
		if m.goroutine(t) {
			if !m.ready(t, i) {
				return false
			}
		} else if e.CPU == No {
			return m.isRunning(t, No) == nil
		} else if !m.on(t, e.CPU, i) {
			return false
		}
	} else if e.Kind == Switch {
		if x := m.core(e.CPU).runs; x >= 0 && !m.leaves(x, e.CPU, e.Thread, i) {
			return false
		}
	}
	switch e.Kind {
	case Switch:
		return e.Other < 0 || m.canRun(e.Other, i)
	case Run:
		if e.Other >= 0 {
			if m.life(e.Other).partner != e.Thread {
				m.part(e.Other) // the other thread has let it go: what runs there now is told by its next Run
			}
			return m.ready(e.Other, i)
		}
	case Park:
		return m.ready(e.Thread, i)
	}
	return true
}

// on makes a thread run on a core.
func (m *mender) on(t int32, cpu int16, i int) bool {
	if m.isRunning(t, cpu) == nil {
		return true
	}
	if !m.canRun(t, i) {
		return false
	}
	x := m.core(cpu).runs
	if x >= 0 {
		return m.leaves(x, cpu, t, i)
	}
	e := state(max(m.began[t], m.seen[cpu], m.piece.Begin), x, Running)
	e.Kind, e.CPU, e.Other = Switch, cpu, t
	return m.add(i, e)
}

// canRun makes a thread able to be switched in.
func (m *mender) canRun(t int32, i int) bool {
	l := m.life(t)
	if !l.exists {
		return false
	}
	switch l.condition {
	case Running:
		return m.leaves(t, l.cpu, m.nextOn(l.cpu, i), i) && m.life(t).condition == Runnable
	case Runnable:
		return true
	case Waiting:
		return m.moveWake(t, i)
	}
	return false
}

// nextOn tells what a core ran before its next event from i on, if that can have been.
func (m *mender) nextOn(cpu int16, i int) int32 {
	for _, k := range m.after(m.revealed[cpu], i) {
		t, _ := parties(&m.events[k])
		if t < 0 {
			return t
		}
		if l := m.life(t); l.exists && l.condition == Runnable {
			return t
		}
		break
	}
	return Idle
}

// leaves adds a switch on a core from a thread to another, or to Idle or Stranger.
func (m *mender) leaves(t int32, cpu int16, other int32, i int) bool {
	from, to := m.acted[t], m.events[i].Time
	condition := m.becomes(t, i)
	woken := m.early[t]
	if woken != No && m.events[woken].Time >= from {
		condition, to = Waiting, m.events[woken].Time // it waited, and that was its Wake
	} else {
		woken = No
	}
	then := int32(No)
	if other >= 0 && m.began[other] > to {
		then, other = other, Idle // it could not run yet
	} else if other >= 0 {
		from = max(from, m.began[other])
	}
	e := state(from+(to-from)/2, t, condition)
	e.Kind, e.CPU, e.Other = Switch, cpu, other
	if !m.add(i, e) {
		return false
	}
	if woken != No {
		m.machine.take(&m.events[woken])
		m.began[t], m.early[t] = m.events[woken].Time, No
	}
	return then < 0 || m.on(then, cpu, i)
}

// moveWake looks for the Wake of a thread that waits: it may have come before the thread's Switch.
func (m *mender) moveWake(t int32, i int) bool {
	k := m.early[t]
	if k == No || m.gone[k] {
		return false
	}
	e := m.events[k]
	e.Time = m.began[t]
	m.insert(i, e)
	m.gone[k] = true
	return true
}

// ready makes a goroutine able to go on.
func (m *mender) ready(t int32, i int) bool {
	l := m.life(t)
	if l.exists && l.condition != Waiting {
		return l.condition != Ended
	}
	if !l.exists || m.moveWake(t, i) {
		return l.exists
	}
	e := state(m.events[i].Time, No, Running)
	e.Kind, e.Other, e.Cause = Ready, t, ByDevice
	return m.add(i, e)
}

// add adds an event before event i, and takes it.
func (m *mender) add(i int, e Event) bool {
	if e.Time > m.events[i].Time || e.Time < m.piece.Begin || m.allows(&e) != nil {
		return false
	}
	m.insert(i, e)
	return true
}

func (m *mender) insert(i int, e Event) {
	before := m.first + sort.Search(i-m.first, func(k int) bool { return m.events[m.first+k].Time > e.Time })
	m.added = append(m.added, addition{before, e})
	m.repairs++
	m.note(No, &e)
}

// note takes an event, and notes when what was seen. i is its number, or No.
func (m *mender) note(i int, e *Event) {
	actor, other := parties(e)
	if (e.Kind == Wake || e.Kind == Ready) && i != No {
		if l := m.life(other); l.condition == Running || l.condition == Runnable {
			m.early[other] = int32(i)
		} else {
			m.early[other] = No
		}
	}
	if (e.Kind == Wake || e.Kind == Ready) && m.life(other).condition == Waiting {
		m.began[other] = e.Time
	}
	m.machine.take(e)
	if actor >= 0 {
		m.acted[actor] = e.Time
	}
	switch e.Kind {
	case Switch, Park:
		if actor >= 0 {
			m.began[actor] = e.Time
			if k := m.early[actor]; k != No && m.allows(&m.events[k]) != nil {
				m.early[actor] = No // what sent it goes on already: it cannot be moved behind this event
			}
		}
		if other >= 0 {
			m.acted[other], m.began[other], m.early[other] = e.Time, e.Time, No
		}
	case Fork, Run:
		if other >= 0 {
			m.began[other], m.early[other] = e.Time, No
		}
	}
	if m.reveals(e) {
		m.seen[e.CPU] = e.Time
	}
}

// split ends the piece before event i, and begins another with it.
func (m *mender) split(i int) {
	e := &m.events[i]
	end := m.piece.Begin
	if i > m.first {
		end = m.events[i-1].Time
	}
	m.broken = true
	m.close(i, end)
	m.r.Losses.LeftOut += e.Time - end
	m.force(e, func(t int32) Condition { return m.becomes(t, i) })
	m.piece = Window{Begin: e.Time, End: m.w.End, Events: m.states(e.Time)}
	m.added, m.first = nil, i
	for t := range m.acted {
		m.acted[t], m.began[t], m.early[t] = e.Time, e.Time, No
	}
}

// close ends the piece: its events are those before event i. A piece of a window that was split is left out if it is
// so short that hardly a sample falls into it.
func (m *mender) close(i int, end int64) {
	p := &m.piece
	p.End = end
	if m.broken && end-p.Begin < fewPeriods*m.r.Period {
		m.r.Losses.LeftOut += end - p.Begin
		return
	}
	slices.SortStableFunc(m.added, func(a, b addition) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.event.Time, b.event.Time))
	})
	added := m.added
	for k := m.first; k <= i; k++ {
		for len(added) > 0 && added[0].before <= k {
			if added[0].event.Time <= end { // others were to explain what was left out
				p.Events = append(p.Events, added[0].event)
			}
			added = added[1:]
		}
		if k < i && !m.gone[int32(k)] {
			p.Events = append(p.Events, m.events[k])
		}
	}
	check := newMachine(m.r)
	if check.checkWindow(p) != nil {
		m.r.Losses.LeftOut += end - p.Begin
		return
	}
	m.pieces = append(m.pieces, *p)
}

// fewPeriods is how long a piece must be, in periods of sampling: with fewer samples it says too little.
const fewPeriods = 10
