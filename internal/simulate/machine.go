package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"whatif/internal/recording"
)

// Machine is a recording that can be run again. Several goroutines may call its methods at the same time.
type Machine struct {
	rec      *recording.Recording
	cpus     []int16 // the cores that were used, by their number in the machine
	windows  []window
	segments []segment
	samples  []sample
	pieces   []piece // segments that were divided at locks
	kinds    kinds
	waits    []wait
	visits   []visit
	locks    []lock // by the number of the object
	pools    int
	servers  int
	room     []int           // by pool: how many wake-ups givers can be ahead of takers
	wakeups  [causes]float64 // ns that an idle core takes to run a thread, the midmean, by the cause
	slice    float64         // ns that a thread keeps a core which others want
	protect  float64         // ns that a thread keeps a core at least, whoever wakes up
	was      Outcome         // as recorded
	meetings int             // waits that other entities ended
	taken    float64         // see Taken
	flooded  bool            // a thread always has a request of somebody outside to answer
	flushes  []flush
	looks    int // at actions, that findOutside may still take
	writes   int // of waits for something outside, likewise
	doubts   []string
	unknown  []string  // why nothing that it says of changes is to be believed
	runs     sync.Pool // of *run: their buffers
}

// causes is the number of causes: those of package recording, and goroutines, which are made ready without the kernel.
const (
	byGoroutine = recording.ByDevice + 1
	causes      = byGoroutine + 1
)

// window is the programs of one window.
type window struct {
	length   float64
	entities []entity
	coupled  int     // entities that wake or wait for others
	loose    int     // entities that begin again
	starving []int32 // locks of Go that are handed over when the window begins
	takers   []int32 // by pool: how many entities take something there
	mixed    []bool  // by point: requests end in entities that take what there is, so they may end in others than recorded
}

// entity is a thread or a goroutine.
type entity struct {
	thread    int32
	actions   []action
	start     float64   // when it is there; forked: unknown
	begins    condition // at its start
	core      int32     // where it is at its start; No: anywhere
	allowed   []bool    // by core; nil: all
	weight    float64
	urge      float64 // the part of the times that it took a core at once from another thread when it was woken; No
	goroutine bool
	gives     int32 // the pool that it gives to; No
	takes     int32 // the pool that it takes from; No
	serves    int32 // the client that it works for at its start; No
	cut       bool  // it ran or could run when the window ended: it would go on
	atLock    bool  // it waited for a lock when the window ended: when it has that, it would go on
	coupled   bool  // it wakes others, or waits for others
	loose     bool  // it begins again when it has done all its actions
}

// condition is what an entity does at its start.
type condition uint8

const (
	runs    condition = iota // on its core
	ready                    // it can run
	waits                    // its first action is a wait that has begun
	unborn                   // until another entity forks it
	outside                  // it starts at a time, without another entity
)

// deed is what an action does.
type deed uint8

const (
	doRun     deed = iota // of: a segment
	doWait                // of: a wait
	doWake                // of: the wait that it ends
	doVisit               // of: a visit
	doFork                // of: an entity
	doAcquire             // of: an object that is a lock
	doRelease             // of: the same
	doTake                // of: the server that takes a request
	doAnswer              // of: the wait of the client that got this answer in the recording
	doNothing
)

// action is one step of an entity's program.
type action struct {
	deed deed
	of   int32
}

// visit is one recorded visit.
type visit struct {
	point  int32
	role   recording.Role
	begin  int32 // of an end: the number of its begin among m.visits, or No
	time   int64 // since the window's begin
	counts bool  // it appears in the outcome: it is no begin of a latency
	ends   bool  // of a begin: its end is in the window
}

// New makes a machine from a recording. It keeps the recording, which must not change any more.
func New(r *recording.Recording) (*Machine, error) {
	if err := validate(r); err != nil {
		return nil, fmt.Errorf("simulating a recording: %w", err)
	}
	m := &Machine{rec: r, cpus: cpusOf(r)}
	ops := build(m)
	m.meetings, m.taken = len(ops), taken(m.segments)
	m.mergeConditions()
	m.joinRetries()
	m.findPolls()
	m.findOutside()
	m.findSpins()
	m.findFlushes()
	m.runs.New = func() any { return &run{} }
	m.inferObjects(ops)
	m.couple()
	m.kinds.finish(m.segments, m.samples, r.Places)
	return m, nil
}

// Run runs the recording with something changed.
func (m *Machine) Run(c Change) Outcome {
	r := m.runs.Get().(*run)
	defer m.runs.Put(r)
	r.prepare(m, c)
	o := Outcome{Windows: make([]WindowOutcome, len(m.windows))}
	for i := range m.windows {
		r.play(&m.windows[i], &o.Windows[i])
	}
	return o
}

// Waking returns which part of the recorded time idle cores needed to run what was woken for them, added up over cores,
// but at most 1.
func (m *Machine) Waking() float64 {
	sum, length := 0.0, 0.0
	for i := range m.windows {
		length += m.windows[i].length
	}
	for i := range m.waits {
		sum += math.Max(0, float64(m.waits[i].latency))
	}
	return math.Min(1, sum/math.Max(1, length))
}

// Taken returns which part of the time in which the target's threads wanted to run other programs had their cores. How
// they would share cores with a faster target is not known.
func (m *Machine) Taken() float64 { return m.taken }

func taken(segments []segment) float64 {
	others, all := 0.0, 0.0
	for i := range segments {
		s := &segments[i]
		others += s.before + s.meanwhile
		all += s.length + s.before + s.meanwhile
	}
	return others / math.Max(1, all)
}

// validate refuses a recording whose numbers name nothing.
func validate(r *recording.Recording) error {
	if len(r.Windows) == 0 {
		return errors.New("it has no window")
	}
	in := func(n int32, list int) bool { return n >= recording.No && int(n) < list }
	for i := range r.Windows {
		w := &r.Windows[i]
		last := w.Begin
		for j := range w.Events {
			e := &w.Events[j]
			thread := e.Thread >= recording.Stranger && int(e.Thread) < len(r.Threads)
			other := e.Other >= recording.Stranger && int(e.Other) < len(r.Threads)
			if !thread || !other || !in(e.Place, len(r.Places)) || !in(e.Object, len(r.Objects)) ||
				!in(e.Stack, len(r.Stacks)) || !in(e.Point, len(r.Points)) || e.Class >= recording.Classes ||
				e.Cause > recording.ByDevice {
				return fmt.Errorf("event %d of window %d names something that is not there", j, i)
			}
			if e.Time < last || e.Time > w.End {
				return fmt.Errorf("event %d of window %d is not in order of time", j, i)
			}
			last = e.Time
		}
	}
	return nil
}

// cpusOf returns the cores of the recording: those that threads of the target ran on, in order. Where the target could
// use more, the rest gets numbers that are not in use.
func cpusOf(r *recording.Recording) []int16 {
	seen := map[int16]bool{}
	for i := range r.Windows {
		for _, e := range r.Windows[i].Events {
			onCore := e.Kind == recording.State && e.Condition == recording.Running ||
				e.Kind == recording.Switch && (e.Thread >= 0 || e.Other >= 0)
			if onCore && e.CPU >= 0 {
				seen[e.CPU] = true
			}
		}
	}
	var list []int16
	for cpu := range seen {
		list = append(list, cpu)
	}
	for cpu := int16(0); len(list) < max(r.Cores, 1); cpu++ {
		if !seen[cpu] {
			list = append(list, cpu)
		}
	}
	slices.Sort(list)
	return list
}

// couple finds the entities that have to do with others, and those that can begin again.
func (m *Machine) couple() {
	for i := range m.windows {
		w := &m.windows[i]
		w.coupled, w.loose = 0, 0
		m.findTakers(w)
		for j := range w.entities {
			for _, a := range w.entities[j].actions {
				switch a.deed {
				case doWake, doAnswer:
					w.entities[j].coupled = true
					w.entities[m.waits[a.of].owner].coupled = true
				case doAcquire, doRelease, doTake:
					w.entities[j].coupled = true
				case doFork: // it cannot begin again, but with the one that makes it
					w.entities[j].coupled = true
					w.entities[a.of].coupled = true
				}
			}
		}
		for j := range w.entities {
			e := &w.entities[j]
			last := len(e.actions) - 1
			e.atLock = last >= 0 && e.actions[last].deed == doAcquire
			if e.coupled {
				w.coupled++
			} else if m.canRepeat(w, e) {
				e.loose = true
				w.loose++
			}
		}
	}
}

// findTakers finds out who gives to and takes from the queues with several takers.
func (m *Machine) findTakers(w *window) {
	w.takers, w.mixed = make([]int32, m.pools), make([]bool, len(m.rec.Points))
	for j := range w.entities {
		e := &w.entities[j]
		e.gives, e.takes = recording.No, recording.No
		serves := false
		for _, a := range e.actions {
			switch {
			case a.deed == doWake && m.waits[a.of].pool >= 0:
				e.gives = m.waits[a.of].pool
			case a.deed == doWait && m.waits[a.of].pool >= 0 && m.waits[a.of].pool != e.takes:
				e.takes = m.waits[a.of].pool
				w.takers[e.takes]++
			case a.deed == doTake:
				serves = true
			}
		}
		for _, a := range e.actions {
			if a.deed == doVisit && (serves || e.takes >= 0) && m.visits[a.of].begin >= 0 {
				w.mixed[m.visits[a.of].point] = true
			}
		}
	}
}

// canRepeat reports whether an entity that has nothing to do with others was there until the window's end. Its last
// wait, which had not ended then, is taken to end there.
func (m *Machine) canRepeat(w *window, e *entity) bool {
	if !slices.ContainsFunc(e.actions, isRun) {
		return false
	}
	last := e.actions[len(e.actions)-1]
	if last.deed == doWait && m.waits[last.of].ends == never {
		m.waits[last.of].ends = after
		m.waits[last.of].end = int64(w.length)
		e.cut = true
	}
	return e.cut
}

func isRun(a action) bool {
	return a.deed == doRun
}
