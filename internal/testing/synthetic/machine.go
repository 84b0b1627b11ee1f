package synthetic

import (
	"fmt"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Hardware is what a program runs on: cores, a scheduler, and what its work costs. It differs between programs, so that
// an engine cannot be right by having learned one scheduler.
type Hardware struct {
	Cores     int
	Slice     int64   // ns that a thread runs while others wait for its core
	Preempt   float64 // ns of virtual runtime that a woken thread must be behind to get the core at once
	Credit    float64 // ns of virtual runtime that a thread may have saved up by sleeping
	Rotate    int64   // ns after which cores with unequal numbers of threads exchange one; 0: never
	Latency   int64   // ns on average until an idle core runs what was woken for it
	Switching int64   // ns that a core needs to change to another thread
	Period    int64   // ns between samples
}

// The costs of calls, in ns. They are of the size that Linux has on a computer of our time.
const (
	costCall    = 60   // of a library call that stays in user space
	costSystem  = 450  // of a system call that waits
	costWake    = 900  // of waking one thread
	costMessage = 1300 // of reading or writing a pipe or a socket
	costDevice  = 2500 // of starting input or output
	costFork    = 18000
	costExit    = 6000
	costSignal  = 2000 // until another core notices that it should look at its queue
	balancing   = 4_000_000
)

// most is how many events a run may have. A program that reaches it has a loop that takes no time.
const most = 20_000_000

// Machine runs one program once.
type Machine struct {
	hardware Hardware
	seed     uint64
	now      int64
	sequence uint64
	handled  int
	events   heap
	cores    []*core
	tasks    []*Task
	objects  []recording.Object
	points   []recording.Point
	tables   tables
	change   Change
	golang   *goRuntime // nil: threads are threads
	recorder *recorder
	watch    *watch
	samples  uint64
}

// Change is what is different in the changed program.
type Change struct {
	Kinds               []float64 // the share of each kind's time that is gone
	Sleeps, Disks, Nets float64   // the share of such waits that is gone
	// Another machine: the share that is gone of all time on a core, of strangers and the kernel too, and of the time
	// that idle cores take to wake up. Less than 0: it is slower.
	Computes, Wakes float64
	Cores           int // 0: as many as before
}

func (c Change) String() string {
	text := ""
	for kind, by := range c.Kinds {
		if by != 0 {
			text += fmt.Sprintf(" %s-%.0f%%", kindName(kind), 100*by)
		}
	}
	for i, by := range []float64{c.Sleeps, c.Disks, c.Nets, c.Computes, c.Wakes} {
		if by != 0 {
			text += fmt.Sprintf(" %s-%.0f%%", []string{"sleeps", "disks", "nets", "computes", "wakes"}[i], 100*by)
		}
	}
	if c.Cores != 0 {
		text += fmt.Sprintf(" cores=%d", c.Cores)
	}
	if text == "" {
		return "nothing"
	}
	return text[1:]
}

// scale is what is left of a duration in code of a kind.
func (c *Change) scale(kind int, ns int64) int64 {
	if kind < 0 || kind >= len(c.Kinds) {
		return ns
	}
	return less(ns, c.Kinds[kind])
}

func less(ns int64, by float64) int64 {
	if by == 0 {
		return ns
	}
	return int64(float64(ns) * (1 - by))
}

// watch is what is counted in one window.
type watch struct {
	begin  int64
	begun  map[uint64]int64 // requests, by point and key
	same   simulate.WindowOutcome
	wanted []int // visits of each point, after which the run ends
	short  int   // visits that are still missing
}

func newMachine(h Hardware, seed uint64, build func(*Machine)) *Machine {
	m := &Machine{hardware: h, seed: seed}
	m.tables.init()
	for range h.Cores {
		m.addCore()
	}
	build(m)
	m.after(balancing, m.balance)
	if h.Rotate > 0 {
		m.after(h.Rotate, m.rotate)
	}
	return m
}

// Point adds a progress point.
func (m *Machine) Point(name string, latency bool) int32 {
	m.points = append(m.points, recording.Point{Name: name, Latency: latency})
	return int32(len(m.points) - 1)
}

func (m *Machine) object(kind recording.ObjectKind, process int32) int32 {
	number := len(m.objects)
	if m.golang != nil && kind != recording.Process {
		kind = recording.Channel
	}
	if kind == recording.Pipe || kind == recording.Socket {
		process = recording.No
	}
	m.objects = append(m.objects, recording.Object{Kind: kind, Process: process, Address: 0x5000 + uint64(number)*64})
	return int32(number)
}

// close ends all scripts. A machine that is not closed keeps its coroutines for ever.
func (m *Machine) close() {
	for _, t := range m.tasks {
		t.stop()
	}
}

// until runs the program up to a time, or until no visit is missing.
func (m *Machine) until(end int64) {
	for len(m.events) > 0 && m.events[0].at < end {
		if m.watch != nil && m.watch.wanted != nil && m.watch.short == 0 {
			return
		}
		e := m.events.pop()
		m.now = e.at
		if m.handled++; m.handled > most {
			panic("synthetic: a program with a loop that takes no time")
		}
		switch {
		case e.fire != nil:
			e.fire()
		case e.generation == e.core.generation:
			m.stintOver(e.core)
		}
	}
	m.now = end
}

// after calls fire in some ns.
func (m *Machine) after(ns int64, fire func()) {
	m.sequence++
	m.events.push(event{at: m.now + max(ns, 0), sequence: m.sequence, fire: fire})
}

// begin starts a window: from now on the change holds, and visits are counted.
func (m *Machine) begin(c Change, wanted []int) {
	m.watch = &watch{begin: m.now, begun: map[uint64]int64{}, wanted: wanted}
	m.watch.same.Visits = make([][]simulate.Visit, len(m.points))
	for _, n := range wanted {
		m.watch.short += n
	}
	for _, c := range m.cores {
		m.account(c)
	}
	m.watch.same.Busy = 0
	for _, t := range m.tasks {
		t.since = m.now
		t.need = c.scale(t.kind, t.need)
		if !t.goroutine {
			t.need = less(t.need, c.Computes)
		}
	}
	m.change = c
	if c.Cores > 0 {
		m.setCores(c.Cores)
	}
	for _, c := range m.cores {
		m.plan(c)
	}
}

// end ends a window and says what happened in it.
func (m *Machine) end() simulate.WindowOutcome {
	for _, c := range m.cores {
		m.account(c)
	}
	w := m.watch
	m.watch = nil
	w.same.Length = m.now - w.begin
	return w.same
}

// visit counts a visit, and records it.
func (m *Machine) visit(t *Task, point int32, role recording.Role, key uint64) {
	if m.recorder != nil {
		m.recorder.visit(t, point, role, key)
	}
	w := m.watch
	if w == nil {
		return
	}
	request := mix(uint64(point), key)
	if role == recording.Begin {
		w.begun[request] = m.now
		return
	}
	v := simulate.Visit{Time: m.now - w.begin, Recorded: m.now - w.begin, Latency: recording.No}
	if at, ok := w.begun[request]; ok && role == recording.End {
		v.Latency = m.now - at
		delete(w.begun, request)
	}
	w.same.Visits[point] = append(w.same.Visits[point], v)
	if w.wanted != nil && len(w.same.Visits[point]) <= w.wanted[point] {
		w.short--
	}
}

// event is something that will happen: the end of a stint on a core, or a call.
type event struct {
	at         int64
	sequence   uint64 // events of one time happen in the order in which they were planned
	core       *core
	generation uint64
	fire       func()
}

// heap is a binary heap of events, the next one first.
type heap []event

func (h heap) before(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].sequence < h[j].sequence
}

func (h *heap) push(e event) {
	*h = append(*h, e)
	q := *h
	for i := len(q) - 1; i > 0 && q.before(i, (i-1)/2); i = (i - 1) / 2 {
		q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
	}
}

func (h *heap) pop() event {
	q := *h
	first, last := q[0], len(q)-1
	q[0], q[last] = q[last], event{}
	q = q[:last]
	*h = q
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(q) && q.before(child, least) {
				least = child
			}
		}
		if least == i {
			return first
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}
