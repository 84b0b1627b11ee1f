package recording

import (
	"errors"
	"fmt"
)

// machine follows what all threads and cores do through the events of a window. Each window begins with start, which
// costs nothing for each thread: a file may have many of both.
type machine struct {
	r      *Recording
	window int // the number of the window, from 1
	lives  []life
	cores  []core // by number; as many as were named
}

// life is what is known of one thread. The life of an earlier window says nothing in this one.
type life struct {
	window    int
	exists    bool
	condition Condition
	cpu       int16 // of a thread that runs
	place     int32 // of one that waits
	object    int32
	partner   int32 // the goroutine that a thread runs, or the thread that runs a goroutine; or No
}

// core is what a core runs: a thread, Idle or Stranger.
type core struct {
	window int
	runs   int32
}

func newMachine(r *Recording) *machine { return &machine{r: r, lives: make([]life, len(r.Threads))} }

func (m *machine) start() { m.window++ }

// life gives what is known of a thread of the target.
func (m *machine) life(thread int32) *life {
	l := &m.lives[thread]
	if l.window != m.window {
		*l = life{window: m.window, place: No, object: No, partner: No}
	}
	return l
}

// core gives what is known of a core. One that was not named yet is idle.
func (m *machine) core(cpu int16) *core {
	for len(m.cores) <= int(cpu) {
		m.cores = append(m.cores, core{})
	}
	c := &m.cores[cpu]
	if c.window != m.window {
		*c = core{window: m.window, runs: Idle}
	}
	return c
}

func (m *machine) goroutine(thread int32) bool { return m.r.Threads[thread].Goroutine }

// actor is the thread that must be running for an event to be possible; or No.
func (m *machine) actor(e *Event) int32 {
	switch e.Kind {
	case Switch, Sample, Visit, Fork, Run:
		if e.Thread >= 0 {
			return e.Thread
		}
	case Wake:
		if e.Cause == ByThread {
			return e.Thread
		}
	}
	return No
}

// allows says whether an event can follow on those before.
func (m *machine) allows(e *Event) error {
	if t := m.actor(e); t >= 0 {
		if err := m.isRunning(t, e.CPU); err != nil {
			return err
		}
	}
	switch e.Kind {
	case State:
		return m.allowsState(e)
	case Switch:
		return m.allowsSwitch(e)
	case Wake, Ready:
		return m.isThere(e.Other)
	case Fork:
		if m.life(e.Other).exists {
			return fmt.Errorf("%s exists already", m.name(e.Other))
		}
	case Run:
		if e.Other >= 0 {
			return m.allowsRun(e)
		}
	case Park:
		if err := m.isThere(e.Thread); err != nil {
			return err
		}
		if m.life(e.Thread).condition == Waiting {
			return fmt.Errorf("%s waits already", m.name(e.Thread))
		}
	}
	return nil
}

func (m *machine) allowsState(e *Event) error {
	if m.life(e.Thread).exists {
		return fmt.Errorf("%s has two states", m.name(e.Thread))
	}
	if e.Condition == Running && !m.goroutine(e.Thread) {
		if x := m.core(e.CPU).runs; x >= 0 {
			return fmt.Errorf("core %d runs both %s and %s", e.CPU, m.name(x), m.name(e.Thread))
		}
	}
	return nil
}

func (m *machine) allowsSwitch(e *Event) error {
	if x := m.core(e.CPU).runs; e.Thread < 0 && x >= 0 {
		return fmt.Errorf("core %d runs %s, which does not leave it", e.CPU, m.name(x))
	}
	if e.Other < 0 {
		return nil
	}
	if err := m.isThere(e.Other); err != nil {
		return err
	}
	switch l := m.life(e.Other); l.condition {
	case Running:
		return fmt.Errorf("%s runs on core %d already", m.name(e.Other), l.cpu)
	case Waiting:
		return fmt.Errorf("%s was not woken since it waits", m.name(e.Other))
	}
	return nil
}

func (m *machine) allowsRun(e *Event) error {
	if err := m.isThere(e.Other); err != nil {
		return err
	}
	l := m.life(e.Other)
	if l.condition == Waiting {
		return fmt.Errorf("%s was not made ready since it waits", m.name(e.Other))
	}
	if l.partner != No && l.partner != e.Thread {
		return fmt.Errorf("%s is run by %s already", m.name(e.Other), m.name(l.partner))
	}
	return nil
}

var errNotRunning = errors.New("does not run")

// isRunning says whether a thread runs, on this core if that is known. A goroutine need only not wait: what its thread
// does is that thread's.
func (m *machine) isRunning(thread int32, cpu int16) error {
	if err := m.isThere(thread); err != nil {
		return err
	}
	l := m.life(thread)
	if m.goroutine(thread) {
		if l.condition == Waiting {
			return fmt.Errorf("%s %w: it waits", m.name(thread), errNotRunning)
		}
		return nil
	}
	if l.condition != Running {
		return fmt.Errorf("%s %w", m.name(thread), errNotRunning)
	}
	if cpu != No && cpu != l.cpu {
		return fmt.Errorf("%s runs on core %d", m.name(thread), l.cpu)
	}
	return nil
}

func (m *machine) isThere(thread int32) error {
	switch l := m.life(thread); {
	case !l.exists:
		return fmt.Errorf("%s is not known: it has no state, and no thread made it", m.name(thread))
	case l.condition == Ended:
		return fmt.Errorf("%s has ended", m.name(thread))
	}
	return nil
}

// name names a thread by numbers. Its name in the file may be anything.
func (m *machine) name(thread int32) string {
	t := &m.r.Threads[thread]
	if t.Goroutine {
		return fmt.Sprintf("thread %d (goroutine %d)", thread, t.ID)
	}
	return fmt.Sprintf("thread %d (id %d)", thread, t.ID)
}

// take changes what is known by an event that is allowed.
func (m *machine) take(e *Event) {
	switch e.Kind {
	case State:
		l := m.life(e.Thread)
		*l = life{window: m.window, exists: true, condition: e.Condition, cpu: e.CPU, place: No, object: No, partner: No}
		if e.Condition == Running && !m.goroutine(e.Thread) {
			m.core(e.CPU).runs = e.Thread
		}
		if e.Condition == Waiting {
			l.place, l.object = e.Place, e.Object
		}
	case Switch:
		if e.Thread >= 0 {
			m.leave(e.Thread, e)
		}
		m.core(e.CPU).runs = e.Other
		if e.Other >= 0 {
			l := m.life(e.Other)
			l.condition, l.cpu, l.place, l.object = Running, e.CPU, No, No
		}
	case Wake, Ready:
		if l := m.life(e.Other); l.condition == Waiting {
			l.condition, l.place, l.object = Runnable, No, No
		}
	case Fork:
		*m.life(e.Other) = life{window: m.window, exists: true, condition: Runnable, place: No, object: No, partner: No}
	case Run:
		m.part(e.Thread)
		if e.Other >= 0 {
			m.part(e.Other)
			m.life(e.Thread).partner, m.life(e.Other).partner = e.Other, e.Thread
			m.life(e.Other).condition = Running
		}
	case Park:
		m.part(e.Thread)
		m.leave(e.Thread, e)
		m.life(e.Thread).condition = Waiting
	}
}

// leave lets a thread be in the condition that an event says.
func (m *machine) leave(thread int32, e *Event) {
	l := m.life(thread)
	l.condition, l.place, l.object = e.Condition, No, No
	if e.Condition == Waiting || e.Kind == Park {
		l.place, l.object = e.Place, e.Object
	}
	if e.Condition == Ended {
		m.part(thread)
	}
}

// part parts a thread and a goroutine that it runs.
func (m *machine) part(thread int32) {
	l := m.life(thread)
	if l.partner == No {
		return
	}
	other := m.life(l.partner)
	goroutine := other
	if m.goroutine(thread) {
		goroutine = l
	}
	if goroutine.condition == Running {
		goroutine.condition = Runnable
	}
	l.partner, other.partner = No, No
}

// force changes what is known so that an event is allowed, whatever came before. vacated says in which condition a
// thread is that has left its core unseen.
func (m *machine) force(e *Event, vacated func(thread int32) Condition) {
	if t := m.actor(e); t >= 0 {
		m.forceRunning(t, e.CPU, vacated)
	} else if e.Kind == Switch {
		m.vacate(e.CPU, e.Thread, vacated)
	}
	switch e.Kind {
	case Switch:
		if e.Other >= 0 {
			m.forceOff(e.Other, Runnable)
		}
	case Run:
		if e.Other >= 0 {
			m.part(e.Other)
			m.forceOff(e.Other, Runnable)
		}
	case Wake, Ready:
		if l := m.life(e.Other); !l.exists || l.condition == Ended {
			m.forceOff(e.Other, Waiting)
		}
	case Fork:
		m.forceOff(e.Other, Ended)
		m.life(e.Other).exists = false
	case Park:
		if l := m.life(e.Thread); !l.exists || l.condition != Running {
			m.forceOff(e.Thread, Runnable)
		}
	}
}

func (m *machine) forceRunning(thread int32, cpu int16, vacated func(thread int32) Condition) {
	l := m.life(thread)
	if m.goroutine(thread) {
		if !l.exists || l.condition != Running {
			m.forceOff(thread, Runnable)
		}
		return
	}
	if l.exists && l.condition == Running && (cpu == No || l.cpu == cpu) {
		return
	}
	m.forceOff(thread, Runnable)
	if cpu == No {
		cpu = l.cpu // the last one
	}
	m.vacate(cpu, thread, vacated)
	l.condition, l.cpu = Running, cpu
}

// vacate has a core run something else from now on.
func (m *machine) vacate(cpu int16, by int32, vacated func(thread int32) Condition) {
	c := m.core(cpu)
	if c.runs >= 0 && c.runs != by {
		m.forceOff(c.runs, vacated(c.runs))
	}
	m.core(cpu).runs = by
}

// forceOff has a thread be on no core, in a condition.
func (m *machine) forceOff(thread int32, condition Condition) {
	l := m.life(thread)
	if !m.goroutine(thread) && l.exists && l.condition == Running {
		if c := m.core(l.cpu); c.runs == thread {
			c.runs = Idle
		}
	}
	l.exists, l.condition, l.place, l.object = true, condition, No, No
}

// state gives the State of a thread.
func state(time int64, thread int32, condition Condition) Event {
	return Event{Time: time, Kind: State, Thread: thread, Condition: condition, CPU: No,
		Other: No, Place: No, Object: No, Stack: No, Point: No}
}

// states gives the events with which a window begins now.
func (m *machine) states(now int64) []Event {
	var events, runs []Event
	for i := range m.lives {
		l := m.life(int32(i))
		if !l.exists || l.condition == Ended {
			continue
		}
		e := state(now, int32(i), l.condition)
		e.Place, e.Object = l.place, l.object
		if l.condition == Running && m.goroutine(int32(i)) {
			e.Condition = Runnable // a Run follows, if its thread runs
		} else if l.condition == Running {
			e.CPU = l.cpu
			if l.partner != No {
				run := e
				run.Kind, run.Other = Run, l.partner
				runs = append(runs, run)
			}
		}
		events = append(events, e)
	}
	return append(events, runs...)
}
