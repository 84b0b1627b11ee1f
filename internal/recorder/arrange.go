package recorder

import (
	"cmp"
	"slices"

	"whatif/bpf"
	"whatif/internal/recording"
)

// record is what the kernel side writes of an event.
type record = bpf.RecordRecord

// What a core runs besides threads of the target, in a record.
const (
	idle     = ^uint32(0)
	stranger = ^uint32(1)
)

// arranger puts a window's records into the order of time, and follows what each thread and core does. On some machines
// a switch is missing now and then: a thread is met running that was never switched in. Such events are added.
type arranger struct {
	numbers  *numbers
	began    uint64 // of the recording
	live     bool   // the window has begun
	begin    int64
	states   []recording.Event
	events   []recording.Event
	threads  map[uint32]*threadState
	cores    map[uint16]*coreState
	repaired int64

	goroutines map[int32]*goroutineState // by their numbers
	unseen     []unseen
}

// threadState is what a thread does at some moment.
type threadState struct {
	number        int32
	condition     recording.Condition
	cpu           uint16
	place, object int32
	left          int   // the event in which it left its core
	leftAt        int64 // and when
	forked        bool  // before the window
	guessed       bool  // that event was added, and whether the thread waits is not known
	early         *recording.Event
	ran           int64 // when it first ran in the window; never: it has not
	carries       carried
	woken         wakeUp // since it last ran a goroutine
}

// coreState is what a core runs.
type coreState struct {
	known bool
	runs  uint32 // as in a record
	seen  int64  // when it was last seen to run that
}

// arrange makes events of a window's records. Records before its begin say what threads do then.
func arrange(raw []record, n *numbers, began, begin, end uint64) (events []recording.Event, repaired int64) {
	slices.SortStableFunc(raw, func(x, y record) int { return cmp.Compare(x.Time, y.Time) })
	a := &arranger{
		numbers: n, began: began, begin: int64(begin - began),
		threads: make(map[uint32]*threadState), cores: make(map[uint16]*coreState),
		goroutines: make(map[int32]*goroutineState),
	}
	for i := range raw {
		r := &raw[i]
		if r.Time > end {
			break
		}
		if r.Time >= begin && !a.live {
			a.open()
		}
		a.take(r)
	}
	if !a.live {
		a.open()
	}
	a.findSenders()
	slices.SortStableFunc(a.events, func(x, y recording.Event) int { return cmp.Compare(x.Time, y.Time) })
	return append(a.states, a.events...), a.repaired
}

// open begins the window: the first events say what each thread does.
func (a *arranger) open() {
	a.live = true
	a.events, a.unseen, a.repaired = a.events[:0], nil, 0
	for _, s := range a.threads {
		s.left, s.early, s.guessed = 0, nil, false
		s.ran = never
		if s.condition != recording.Ended {
			a.state(s)
		}
	}
	a.openGoroutines()
	slices.SortFunc(a.states, func(x, y recording.Event) int { return cmp.Compare(x.Thread, y.Thread) })
}

// state says what a thread does as the window begins.
func (a *arranger) state(s *threadState) {
	e := blank(recording.State, a.begin)
	e.Thread, e.Condition = s.number, s.condition
	switch s.condition {
	case recording.Running:
		e.CPU = int16(s.cpu)
		s.ran = a.begin
	case recording.Waiting:
		e.Place, e.Object = s.place, s.object
	}
	a.states = append(a.states, e)
}

func blank(kind recording.Kind, at int64) recording.Event {
	return recording.Event{
		Kind: kind, Time: at, Thread: recording.No, Other: recording.No, Place: recording.No, Object: recording.No,
		Stack: recording.No, Point: recording.No, CPU: recording.No,
	}
}

// add adds an event, and gives its index.
func (a *arranger) add(e recording.Event) int {
	if a.live {
		e.Time = max(e.Time, a.begin)
	}
	a.events = append(a.events, e)
	return len(a.events) - 1
}

// take takes the next record.
func (a *arranger) take(r *record) {
	at := int64(r.Time - a.began)
	switch bpf.RecordRecordKind(r.Kind) {
	case bpf.RecordRecordKindRECORD_STATE:
		a.takeState(r)
	case bpf.RecordRecordKindRECORD_SWITCH:
		a.takeSwitch(r, at)
	case bpf.RecordRecordKindRECORD_WAKE:
		a.takeWake(r, at)
	case bpf.RecordRecordKindRECORD_SAMPLE:
		a.runs(r.Cpu, r.Thread, at)
		e := blank(recording.Sample, at)
		e.Thread, e.CPU, e.Stack = a.number(r.Thread), int16(r.Cpu), a.numbers.stack(r.Place)
		e.Key = r.Object
		a.add(e)
	case bpf.RecordRecordKindRECORD_VISIT:
		a.runs(r.Cpu, r.Thread, at)
		e := blank(recording.Visit, at)
		e.Thread, e.CPU, e.Point = a.number(r.Thread), int16(r.Cpu), int32(r.Extra)
		e.Role, e.Key = recording.Role(r.Class), r.Object
		a.add(e)
	case bpf.RecordRecordKindRECORD_FORK:
		a.runs(r.Cpu, r.Thread, at)
		e := blank(recording.Fork, at)
		e.Thread, e.CPU = a.number(r.Thread), int16(r.Cpu)
		e.Other = a.numbers.born(r.Other, r.Process)
		a.threads[r.Other] = &threadState{
			number: e.Other, condition: recording.Runnable, place: recording.No, object: recording.No, ran: never,
			forked: !a.live,
		}
		a.add(e)
	case bpf.RecordRecordKindRECORD_EXEC:
		a.runs(r.Cpu, r.Thread, at)
	case bpf.RecordRecordKindRECORD_RUN, bpf.RecordRecordKindRECORD_PARK, bpf.RecordRecordKindRECORD_READY:
		a.runs(r.Cpu, r.Thread, at)
		a.takeGoroutine(r, at)
	}
}

func (a *arranger) takeState(r *record) {
	s := a.threads[r.Thread]
	switch {
	case s == nil:
		s = &threadState{
			number: a.numbers.thread(r.Thread, r.Process), place: recording.No, object: recording.No, ran: never,
		}
		a.threads[r.Thread] = s
	case !s.forked || s.ran != never || s.leftAt != 0:
		return // what it has done since is known better
	}
	s.condition = recording.Condition(r.Condition)
	switch s.condition {
	case recording.Running:
		s.cpu = uint16(r.Other)
		if c := a.core(s.cpu); !c.known {
			*c = coreState{known: true, runs: r.Thread, seen: int64(r.Time - a.began)}
		}
	case recording.Waiting:
		s.place, s.object = a.numbers.place(r.Place), a.numbers.object(r)
	}
}

func (a *arranger) core(cpu uint16) *coreState {
	c := a.cores[cpu]
	if c == nil {
		c = &coreState{}
		a.cores[cpu] = c
	}
	return c
}

// number is a thread's, or what a core runs besides.
func (a *arranger) number(thread uint32) int32 {
	switch thread {
	case idle:
		return recording.Idle
	case stranger:
		return recording.Stranger
	}
	return a.of(thread, recording.Runnable).number
}

// of is the state of a thread of the target. A thread that is met for the first time was in the condition that is given
// when the window began. One that is met as it gets a core was made unseen: it has no state (recording.Repair).
func (a *arranger) of(thread uint32, was recording.Condition) *threadState {
	s := a.threads[thread]
	if s == nil {
		s = &threadState{
			number: a.numbers.thread(thread, 0), condition: was, place: recording.No, object: recording.No, ran: never,
		}
		a.threads[thread] = s
		if a.live && was != recording.Runnable {
			a.state(s)
		}
	}
	return s
}

// runs notes that a core was seen to run something. If it is not what the core was switched to, a switch is missing.
func (a *arranger) runs(cpu uint16, what uint32, at int64) {
	c := a.core(cpu)
	switch {
	case !c.known:
		c.known, c.runs = true, what
		if what < stranger && a.threads[what] == nil {
			s := &threadState{
				number: a.numbers.thread(what, 0), condition: recording.Running, cpu: cpu,
				place: recording.No, object: recording.No, ran: never,
			}
			a.threads[what] = s
			if a.live {
				a.state(s)
			}
		} else if what < stranger {
			a.gets(what, cpu, at)
		}
	case c.runs != what:
		a.missing(cpu, c, what, min(c.seen+1, at))
	}
	c.seen = at
}

// missing adds the switch that let a core run something else.
func (a *arranger) missing(cpu uint16, c *coreState, what uint32, at int64) {
	e := blank(recording.Switch, at)
	e.CPU, e.Thread, e.Condition = int16(cpu), a.number(c.runs), recording.Runnable
	e.Other = a.number(what)
	i := a.add(e)
	a.repaired++
	if c.runs < stranger {
		s := a.of(c.runs, recording.Running)
		s.condition, s.left, s.leftAt, s.guessed = recording.Runnable, i, at, true
	}
	c.runs = what
	if what < stranger {
		a.gets(what, cpu, at)
	}
}

// gets lets a thread have a core.
func (a *arranger) gets(thread uint32, cpu uint16, at int64) {
	s := a.of(thread, recording.Runnable)
	switch {
	case s.condition == recording.Waiting && s.early != nil:
		// The wake-up came while the thread was leaving its core, and has the earlier time.
		e := *s.early
		e.Time, e.Object = s.leftAt, cmp.Or(e.Object+1, s.object+1)-1
		a.add(e)
	case s.condition == recording.Waiting:
		e := blank(recording.Wake, at)
		e.Other, e.Cause, e.Object = s.number, recording.ByDevice, s.object
		a.add(e)
		a.repaired++
	case s.condition == recording.Running && s.cpu != cpu:
		other := a.core(s.cpu)
		if other.known && other.runs == thread {
			e := blank(recording.Switch, min(other.seen+1, at))
			e.CPU, e.Thread, e.Other, e.Condition = int16(s.cpu), s.number, recording.Idle, recording.Runnable
			a.add(e)
			a.repaired++
			other.runs = idle
		}
	}
	s.condition, s.cpu, s.early, s.guessed = recording.Running, cpu, nil, false
	if s.ran == never {
		s.ran = at
	}
}

func (a *arranger) takeSwitch(r *record, at int64) {
	a.runs(r.Cpu, r.Thread, at)
	e := blank(recording.Switch, at)
	e.CPU, e.Thread, e.Other = int16(r.Cpu), a.number(r.Thread), a.number(r.Other)
	if r.Thread < stranger {
		a.numbers.of(e.Thread, r.Process)
		e.Condition = recording.Condition(r.Condition)
		s := a.of(r.Thread, recording.Running)
		s.condition, s.place, s.object = e.Condition, recording.No, recording.No
		if e.Condition == recording.Waiting {
			s.place, s.object = a.numbers.place(r.Place), a.numbers.object(r)
			e.Place, e.Object = s.place, s.object
		}
		s.left, s.leftAt, s.guessed = a.add(e), at, false
	} else {
		e.Condition = recording.Runnable
		a.add(e)
	}
	c := a.core(r.Cpu)
	c.known, c.runs, c.seen = true, r.Other, at
	if r.Other < stranger {
		a.gets(r.Other, r.Cpu, at)
	}
}

func (a *arranger) takeWake(r *record, at int64) {
	e := blank(recording.Wake, at)
	e.CPU, e.Cause, e.Class = int16(r.Cpu), recording.Cause(r.Cause), recording.Class(r.Class)
	if e.Cause == recording.ByThread {
		a.runs(r.Cpu, r.Thread, at)
		e.Thread, e.Place = a.number(r.Thread), a.numbers.place(r.Place)
	}
	s := a.of(r.Other, recording.Waiting)
	if e.Cause == recording.ByThread {
		s.woken = wakeUp{a.of(r.Thread, recording.Running).carries.goroutine, at}
	}
	a.numbers.of(s.number, r.Process)
	e.Other = s.number
	e.Object = a.numbers.object(r)
	switch {
	case s.condition == recording.Running:
		s.early = &e
		return
	case s.condition == recording.Runnable && s.guessed && s.left < len(a.events):
		a.events[s.left].Condition = recording.Waiting
		s.guessed = false
	case s.condition != recording.Waiting:
		return // it need not wait any more already
	}
	if e.Object == recording.No {
		e.Object = s.object
	}
	s.condition = recording.Runnable
	a.add(e)
}
