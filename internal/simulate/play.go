package simulate

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// run is one simulated run: its state, and memory that the next one uses again.
type run struct {
	m       *Machine
	w       *window
	out     *WindowOutcome
	ncores  int
	shares  shares
	gain    []float64 // by stack
	lengths []float64 // by segment
	waiting []Faster  // units with waits
	device  factors
	held    bool // requests come no sooner than they did
	stalls  int  // times that all threads waited for each other, and one had to be let go

	now     float64
	heap    []event
	seq     uint64
	gen     uint32
	at      int32 // the core whose thread acts; No: none does
	ents    []actor
	flags   []uint8 // by wait
	got     []int32 // by wait: how many of the wake-ups that it needs have happened
	late    []int32 // by wait: the first waker that waits until it has begun; No
	pools   []poolState
	servers []serverState
	locks   []lockState
	cores   []core
	visited []float64   // by visit: when it was; NaN: not yet
	begun   [][]float64 // by point: when those requests began that have not ended, the first one first
	early   []int       // by point: requests that have ended, but have not begun
	live    int         // entities that will act without others, before they have done what was recorded
	coupled int         // coupled entities that have actions left
	loose   int         // entities that have not yet begun again
	steps   int         // of the window, so far
	done    bool
	balance float64 // when loads are compared next
}

// actor is the state of an entity.
type actor struct {
	account
	state  state
	needed bool    // it has not yet done what was recorded of it
	pos    int32   // its next action
	left   float64 // of the run that it is in; negative: it is in none
	core   int32
	since  float64 // when its wait began, for others or for a core
	wait   int32   // that it is in; No: it waits at a gate or a lock
	serves int32   // the client of the request that it has taken; No
	served bool    // a server had taken its request when the window began
	next   int32   // the entity that waits behind it at the same gate
	gen    uint32  // the event that may wake it
	order  uint64  // in its core's queue
	urge   float64 // see preempt
	asked  float64 // when it came to the lock that it waits for, or was woken to take; NaN: there is none
	cycles float64 // how often it has begun again
	cycle  float64 // when
}

// state is what an entity does.
type state uint8

const (
	absent  state = iota // not yet forked, or over
	timed                // it waits until a time
	able                 // it waits for a core
	active               // it has a core
	asleep               // it waits for a wake-up
	stopped              // it waits at a gate
	queued               // it waits for a lock, in a pool, or for a request
)

// Flags of waits.
const (
	reached uint8 = 1 << iota // it has begun
	ended                     // its wake-up has happened
	open                      // its owner is in it
)

// poolState is a queue with several takers.
type poolState struct {
	tokens          int
	takers, blocked []int32
}

// serverState is what a server has to do.
type serverState struct {
	asking   []int32 // clients of which nobody has taken the request, the first one first
	sleeping []int32 // the server's entities that wait for a request, the first one first
}

// lockState is which entity has a lock, and which ones wait for it.
type lockState struct {
	owner    int32
	queue    []int32
	starving bool // Go's lock: it is handed over
}

// eventKind is what happens at a simulated moment.
type eventKind uint8

const (
	stintEnds  eventKind = iota // of a core
	wakes                       // of an entity
	dispatches                  // of a core
	preempts                    // of a core
)

// event is something that will happen.
type event struct {
	at   float64
	seq  uint64
	of   int32
	gen  uint32
	kind eventKind
}

// prepare makes ready for a change.
func (r *run) prepare(m *Machine, c Change) {
	r.m = m
	r.ncores = c.Cores
	if r.ncores <= 0 {
		r.ncores = len(m.cpus)
	}
	r.ncores = min(r.ncores, m.useful())
	r.waiting = r.waiting[:0]
	var gain []float64
	for _, f := range c.Faster {
		if gain == nil && slices.Contains(f.Unit.Stacks, true) {
			r.gain = grow(r.gain, len(m.rec.Stacks))
			gain = gains(r.gain, c.Faster)
		}
		if f.Unit.Classes != [recording.Classes]bool{} {
			r.waiting = append(r.waiting, f)
		}
	}
	r.device = c.Device.factors()
	if r.device.memory != r.device.cpu {
		if gain == nil {
			r.gain = grow(r.gain, len(m.rec.Stacks))
			gain = r.gain
		}
		r.device.wait(gain, c.Device.Waits)
	}
	r.lengths = m.kinds.lengths(m.segments, gain, &r.shares, r.lengths)
	if c.Costs {
		for i := range r.lengths {
			r.lengths[i] += m.segments[i].cost
		}
	}
	r.device.stretch(r.lengths)
	if c.Flushes && gain != nil {
		m.shorten(gain, r.lengths)
	}
	r.flags = grow(r.flags, len(m.waits))
	r.got = grow(r.got, len(m.waits))
	r.late = grow(r.late, len(m.waits))
	for i := range r.late {
		r.late[i] = recording.No
	}
	r.visited = grow(r.visited, len(m.visits))
	for i := range r.visited {
		r.visited[i] = math.NaN()
	}
	r.held = c.Held
	r.stalls = 0
}

// useful is the number of cores from which on more of them change nothing: each event looks at all of them, and a
// device's file may claim any number.
func (m *Machine) useful() int {
	n := max(len(m.cpus), 8) // see interval
	for i := range m.windows {
		n = max(n, len(m.windows[i].entities))
	}
	return n
}

// reset makes ready for a window.
func (r *run) reset(w *window, out *WindowOutcome) {
	r.w, r.out = w, out
	r.out.Visits = make([][]Visit, len(r.m.rec.Points))
	r.begun, r.early = grow(r.begun, len(r.m.rec.Points)), grow(r.early, len(r.m.rec.Points))
	r.now, r.heap, r.seq, r.at, r.live, r.done, r.steps = 0, r.heap[:0], 0, recording.No, 0, false, 0
	r.coupled, r.loose = w.coupled, w.loose
	r.ents = grow(r.ents, len(w.entities))
	for i := range r.ents {
		e := &w.entities[i]
		r.ents[i] = actor{left: -1, core: e.core, wait: recording.No, serves: e.serves,
			next: recording.No, asked: math.NaN(), needed: true}
	}
	for i := range r.ents {
		if c := r.ents[i].serves; c >= 0 {
			r.ents[c].served = true
		}
	}
	r.pools = grow(r.pools, r.m.pools)
	r.servers = grow(r.servers, r.m.servers)
	r.locks = grow(r.locks, len(r.m.locks))
	for i := range r.locks {
		r.locks[i].owner = recording.No
	}
	for _, o := range w.starving {
		r.locks[o].starving = true
	}
	r.cores = grow(r.cores, r.ncores)
	for i := range r.cores {
		r.cores[i] = core{current: recording.No, next: recording.No, first: recording.No}
	}
	r.balance = r.interval()
}

// allOver tells whether no entity is there any more.
func (r *run) allOver() bool {
	return !slices.ContainsFunc(r.ents, func(a actor) bool { return a.state != absent })
}

// play runs one window.
func (r *run) play(w *window, out *WindowOutcome) {
	r.reset(w, out)
	// First those that have a core, so that the others find the cores taken, and the locks.
	for _, begins := range [...]condition{runs, ready, waits, outside} {
		for i := range w.entities {
			if w.entities[i].begins == begins {
				r.begin(int32(i), begins)
			}
		}
		for r.step(0) {
		}
	}
	for most := w.mostSteps(); !r.done && r.steps < most; r.steps++ {
		if r.live == 0 && !r.unstall() {
			out.Stuck = !r.allOver() // else the program has ended before the window
			break
		}
		if !r.step(math.Inf(1)) && r.live != 0 {
			break
		}
	}
	busy := 0.0
	for c := range r.cores {
		r.charge(int32(c))
		busy += r.cores[c].busy
	}
	out.Busy = int64(math.Round(busy))
	out.Length = int64(math.Round(r.now))
}

// begin starts an entity.
func (r *run) begin(i int32, begins condition) {
	e := &r.w.entities[i]
	if len(e.actions) == 0 {
		return // a thread that only carries goroutines
	}
	a := &r.ents[i]
	switch begins {
	case outside:
		r.until(i, e.start)
	case waits:
		a.since = 0
		if first := e.actions[0].deed; first != doWait && first != doAcquire || r.act(i) {
			r.becomesAble(i, 0)
		}
	default:
		r.becomesAble(i, 0)
	}
}

// step does what happens next, if that is no later than a time.
func (r *run) step(until float64) bool {
	if len(r.heap) == 0 || r.heap[0].at > until {
		return false
	}
	e := r.pop()
	if e.kind == wakes {
		if r.ents[e.of].gen == e.gen && r.ents[e.of].state == timed {
			r.now = e.at
			if w := r.ents[e.of].wait; w >= 0 {
				r.flags[w] &^= open
			}
			r.wake(e.of)
		}
		return true
	}
	c := &r.cores[e.of]
	switch {
	case e.kind == dispatches:
		r.now = e.at
		c.pending = false
		r.dispatch(e.of)
	case e.gen != c.gen:
	case e.kind == stintEnds:
		r.now = e.at
		r.stintOver(e.of)
	case e.kind == preempts:
		r.now = e.at
		r.requeue(e.of)
		r.dispatch(e.of)
	}
	if r.now >= r.balance {
		r.balance = r.now + r.interval()
		r.level()
	}
	return true
}

// set changes what an entity does.
func (r *run) set(i int32, s state) {
	a := &r.ents[i]
	if a.needed {
		r.live -= alive(a.state)
		r.live += alive(s)
	}
	a.state = s
}

// alive returns 1 for states that end without another entity.
func alive(s state) int {
	if s == timed || s == able || s == active {
		return 1
	}
	return 0
}

// until lets an entity wait until a time.
func (r *run) until(i int32, at float64) {
	a := &r.ents[i]
	r.gen++
	a.gen, a.since = r.gen, r.now
	r.set(i, timed)
	r.push(event{at: at, kind: wakes, of: i, gen: a.gen})
}

// proceed does what an entity does at once. It returns whether the entity then runs.
func (r *run) proceed(i int32) bool {
	a, e := &r.ents[i], &r.w.entities[i]
	for !r.done {
		if int(a.pos) == len(e.actions) {
			if a.left > instant {
				return true
			}
			a.left = -1
			if !r.again(i) {
				return false
			}
			continue
		}
		if do := e.actions[a.pos]; do.deed == doRun {
			if a.left < 0 {
				a.left = r.lengths[do.of]
			}
			if a.left > instant {
				return true
			}
			a.left = -1
			a.pos++
		} else if !r.act(i) {
			return false
		}
	}
	return true
}

// instant is how many ns are taken to be none, as sums of floating point numbers are not exact.
const instant = 1e-3

// mostTimes is how often an entity begins again at most for once that it was recorded: it keeps its core until then. If
// nearly all of its code is gone, it would begin so often that the simulation never ended. So no visit gains more than
// 99%.
const mostTimes = 100

// again lets an entity begin again that has done all that was recorded of it, if it can. Otherwise it is over.
func (r *run) again(i int32) bool {
	a, e := &r.ents[i], &r.w.entities[i]
	r.finished(i)
	if !e.loose || r.done {
		r.set(i, absent)
		return false
	}
	if soonest := a.cycle + r.device.least*(r.w.length-e.start)/mostTimes; r.now < soonest-instant {
		a.left = soonest - r.now
		return true
	}
	a.pos, a.cycle = 0, r.now
	a.cycles++
	return true
}

// finished takes in that an entity has done all that was recorded of it. The window is over when one that would go on
// has no more to do, and others depend on it.
func (r *run) finished(i int32) {
	a, e := &r.ents[i], &r.w.entities[i]
	if !a.needed {
		return
	}
	r.live -= alive(a.state)
	a.needed = false
	switch {
	case e.coupled:
		r.coupled--
		r.done = e.cut || e.atLock
	case e.loose:
		r.loose--
	default:
		return
	}
	r.done = r.done || r.coupled == 0 && r.loose == 0
}

// act does the next action of an entity, which is no run. It returns whether the entity goes on.
func (r *run) act(i int32) bool {
	a := &r.ents[i]
	do := r.w.entities[i].actions[a.pos]
	switch do.deed {
	case doWait:
		return r.wait(i, do.of)
	case doWake:
		return r.give(i, do.of)
	case doVisit:
		r.visit(i, do.of)
	case doFork:
		if o := &r.ents[do.of]; o.state == absent && o.pos == 0 && o.needed {
			r.becomesAble(do.of, r.device.wake*r.m.wakeups[recording.ByThread])
		}
	case doAcquire:
		return r.acquire(i, do.of)
	case doTake:
		return r.take(i, do.of)
	case doAnswer:
		r.answer(i, do.of)
		return true
	case doRelease:
		r.release(i, do.of)
	}
	a.pos++
	return true
}

// visit counts a visit.
func (r *run) visit(i, n int32) {
	v := &r.m.visits[n]
	r.visited[n] = r.now
	if !v.counts {
		if r.early[v.point] > 0 && v.ends {
			r.early[v.point]--
		} else if v.ends {
			r.begun[v.point] = append(r.begun[v.point], r.now)
		}
		return
	}
	latency := int64(recording.No)
	if began := r.beganAt(v); !math.IsNaN(began) {
		latency = int64(math.Round(r.now - began))
	}
	e := &r.w.entities[i]
	again := int64(r.ents[i].cycles * (r.w.length - e.start))
	list := &r.out.Visits[v.point]
	if *list == nil {
		*list = make([]Visit, 0, 16)
	}
	*list = append(*list, Visit{Time: int64(math.Round(r.now)), Recorded: v.time + again, Latency: latency})
}

// beganAt returns when a request began that ends now; NaN: unknown. Where another entity may have taken it than in the
// recording, it is the request that has been there for longest: that is right on average, whichever it is.
func (r *run) beganAt(v *visit) float64 {
	if v.begin < 0 {
		return math.NaN()
	}
	if !r.w.mixed[v.point] {
		return r.visited[v.begin]
	}
	list := r.begun[v.point]
	if len(list) == 0 {
		r.early[v.point]++
		return math.NaN()
	}
	r.begun[v.point] = list[1:]
	return list[0]
}
