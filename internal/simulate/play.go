package simulate

import (
	"math"

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
	stalls  int       // times that all threads waited for each other, and one had to be let go

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
	locks   []lockState
	cores   []core
	begun   []float64 // by visit: when a request began; NaN
	live    int       // entities that will act without others, before they have done what was recorded
	coupled int       // coupled entities that have actions left
	loose   int       // entities that have not yet begun again
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
	next   int32   // the entity that waits behind it at the same gate
	gen    uint32  // the event that may wake it
	order  uint64  // in its core's queue
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
	queued               // it waits for a lock or in a pool
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

// lockState is which entity has a lock, and which ones wait for it.
type lockState struct {
	owner int32
	queue []int32
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
	r.waiting = r.waiting[:0]
	var gain []float64
	for _, f := range c.Faster {
		for i, in := range f.Unit.Stacks {
			if in && i < len(m.rec.Stacks) {
				if gain == nil {
					r.gain = grow(r.gain, len(m.rec.Stacks))
					gain = r.gain
				}
				gain[i] = 1 - (1-gain[i])*(1-f.By)
			}
		}
		if f.Unit.Classes != [recording.Classes]bool{} {
			r.waiting = append(r.waiting, f)
		}
	}
	r.lengths = m.kinds.lengths(m.segments, gain, &r.shares, r.lengths)
	r.flags = grow(r.flags, len(m.waits))
	r.got = grow(r.got, len(m.waits))
	r.late = grow(r.late, len(m.waits))
	for i := range r.late {
		r.late[i] = recording.No
	}
	r.begun = grow(r.begun, len(m.visits))
	for i := range r.begun {
		r.begun[i] = math.NaN()
	}
	r.stalls = 0
}

// reset makes ready for a window.
func (r *run) reset(w *window, out *WindowOutcome) {
	r.w, r.out = w, out
	r.out.Visits = make([][]Visit, len(r.m.rec.Points))
	r.now, r.heap, r.seq, r.at, r.live, r.done = 0, r.heap[:0], 0, recording.No, 0, false
	r.coupled, r.loose = w.coupled, w.loose
	r.ents = grow(r.ents, len(w.entities))
	for i := range r.ents {
		e := &w.entities[i]
		r.ents[i] = actor{left: -1, core: e.core, wait: recording.No, next: recording.No,
			needed: true}
	}
	r.pools = grow(r.pools, r.m.pools)
	r.locks = grow(r.locks, len(r.m.locks))
	for i := range r.locks {
		r.locks[i].owner = recording.No
	}
	r.cores = grow(r.cores, r.ncores)
	for i := range r.cores {
		r.cores[i] = core{current: recording.No, next: recording.No}
	}
	r.balance = r.interval()
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
	for !r.done {
		if r.live == 0 && !r.unstall() {
			out.Stuck = true
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
	if soonest := a.cycle + (r.w.length-e.start)/mostTimes; r.now < soonest-instant {
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
		r.done = e.cut
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
			r.becomesAble(do.of, r.m.wakeups[recording.ByThread])
		}
	case doAcquire:
		return r.acquire(i, do.of)
	case doRelease:
		r.release(i, do.of)
	}
	a.pos++
	return true
}

// visit counts a visit.
func (r *run) visit(i, n int32) {
	v := &r.m.visits[n]
	if v.role == recording.Begin {
		r.begun[n] = r.now
	}
	if !v.counts {
		return
	}
	latency := int64(recording.No)
	if v.begin >= 0 && !math.IsNaN(r.begun[v.begin]) {
		latency = int64(math.Round(r.now - r.begun[v.begin]))
	}
	e := &r.w.entities[i]
	again := int64(r.ents[i].cycles * (r.w.length - e.start))
	list := &r.out.Visits[v.point]
	if *list == nil {
		*list = make([]Visit, 0, 16)
	}
	*list = append(*list, Visit{Time: int64(math.Round(r.now)), Recorded: v.time + again, Latency: latency})
}

// wait begins a wait. It returns whether what ends it has happened already.
func (r *run) wait(i, n int32) bool {
	a, w := &r.ents[i], &r.m.waits[n]
	a.wait, a.since = n, r.now
	r.flags[n] |= reached
	for r.late[n] >= 0 { // wakers that had come too early
		j := r.late[n]
		r.late[n], r.ents[j].next = r.ents[j].next, recording.No
		r.meet(j, n)
		r.wake(j)
	}
	a.pos++
	part := r.part(w)
	switch w.ends {
	case after:
		r.until(i, r.now+part*w.length())
		return false
	case atMoment:
		at := float64(w.end) + a.cycles*(r.w.length-r.w.entities[i].start)
		if part != 1 {
			at = r.now + part*w.length()
		}
		if at <= r.now {
			return true
		}
		r.until(i, at)
		return false
	case byWake:
		return r.waitForWake(i, w, part)
	}
	r.set(i, asleep)
	r.finished(i)
	return false
}

// meet lets the last one that comes to a barrier go on at once: the wake-up that it would wait for comes from a thread
// that is there already. That thread needs time to get a core; the last one has one.
func (r *run) meet(j, n int32) {
	a, w := &r.ents[j], &r.m.waits[n]
	if r.w.entities[j].actions[a.pos] != (action{doWake, n}) || w.ends != byWake || w.pool >= 0 {
		return
	}
	a.pos++
	if w.more > 0 {
		if r.got[n]++; r.got[n] <= w.more {
			return
		}
	}
	r.flags[n] |= ended
}

// waitForWake begins a wait that another entity ends.
func (r *run) waitForWake(i int32, w *wait, part float64) bool {
	n := r.ents[i].wait
	if w.pool >= 0 {
		p := &r.pools[w.pool]
		if p.tokens > 0 {
			p.tokens--
			r.wakeFirst(&p.blocked)
			return true
		}
		p.takers = append(p.takers, i)
		r.set(i, asleep)
		r.served(w.pool)
		return false
	}
	if r.flags[n]&ended != 0 {
		return true
	}
	if r.isServed(i, n) && r.allTakersWait(r.w.entities[i].gives) {
		r.flags[n] |= ended
		return true
	}
	r.flags[n] |= open
	if part != 1 {
		r.until(i, r.now+part*w.length())
		return false
	}
	r.set(i, asleep)
	return false
}

// give ends a wait, or lets it not begin. It returns false if the entity must wait at a gate first.
func (r *run) give(i, n int32) bool {
	a, w := &r.ents[i], &r.m.waits[n]
	if w.pool >= 0 {
		p := &r.pools[w.pool]
		if len(p.takers) == 0 && p.tokens >= r.m.room[w.pool] {
			p.blocked = append(p.blocked, i)
			r.block(i, queued)
			return false
		}
		a.pos++
		r.giveToPool(p, w)
		return true
	}
	if g := w.gate; g >= 0 && r.flags[g]&reached == 0 {
		a.next, r.late[g] = r.late[g], i
		r.block(i, stopped)
		return false
	}
	a.pos++
	if r.flags[n]&ended != 0 {
		return true
	}
	if w.more > 0 {
		if r.got[n]++; r.got[n] <= w.more {
			return true
		}
	}
	r.flags[n] |= ended
	if r.flags[n]&open != 0 {
		r.flags[n] &^= open
		r.wake(w.owner)
	}
	return true
}

// giveToPool lets one taker go on: the recorded one if it waits, or the one that has waited longest.
func (r *run) giveToPool(p *poolState, w *wait) {
	if len(p.takers) == 0 {
		p.tokens++
		return
	}
	k := 0
	for j, t := range p.takers {
		if t == w.owner {
			k = j
		}
	}
	t := p.takers[k]
	p.takers = append(p.takers[:k], p.takers[k+1:]...)
	r.wake(t)
}

// block lets an entity wait for something that it did not wait for in the recording.
func (r *run) block(i int32, s state) {
	a := &r.ents[i]
	a.wait, a.since = recording.No, r.now
	r.set(i, s)
}

// wakeFirst wakes the first entity of a list.
func (r *run) wakeFirst(list *[]int32) {
	if len(*list) > 0 {
		i := (*list)[0]
		*list = append((*list)[:0], (*list)[1:]...)
		r.wake(i)
	}
}

// acquire takes a lock, or waits for it.
func (r *run) acquire(i, o int32) bool {
	l := &r.locks[o]
	if l.owner == recording.No || l.owner == i {
		l.owner = i
		r.ents[i].pos++
		return true
	}
	l.queue = append(l.queue, i)
	r.block(i, queued)
	return false
}

// release gives a lock to the next one, or lets it be taken by the first to come.
func (r *run) release(i, o int32) {
	l := &r.locks[o]
	if l.owner != i {
		return
	}
	l.owner = recording.No
	if len(l.queue) == 0 {
		return
	}
	if !r.m.locks[o].barging {
		l.owner = l.queue[0]
		r.ents[l.owner].pos++
	}
	r.wakeFirst(&l.queue)
}

// wake ends the wait of an entity.
func (r *run) wake(i int32) {
	a, e := &r.ents[i], &r.w.entities[i]
	class, cause, own := recording.Lock, recording.ByThread, int64(recording.No)
	if a.wait >= 0 {
		w := &r.m.waits[a.wait]
		class, cause, own = w.class, w.cause, w.latency
	}
	if e.begins != outside || a.pos > 0 {
		r.out.Waited[class] += int64(math.Round(r.now - a.since))
		if a.wait < 0 {
			r.out.Assumed += int64(math.Round(r.now - a.since))
		}
	}
	latency := float64(own)
	if own < 0 {
		if e.goroutine {
			cause = byGoroutine
		}
		latency = r.m.wakeups[cause]
	}
	r.becomesAble(i, latency)
}

// part returns the share of a wait that is left.
func (r *run) part(w *wait) float64 {
	part := 1.0
	for i := range r.waiting {
		u := &r.waiting[i].Unit
		at := u.Places == nil || w.place >= 0 && int(w.place) < len(u.Places) && u.Places[w.place]
		if at && u.Classes[w.class] {
			part *= math.Max(0, 1-r.waiting[i].By)
		}
	}
	return part
}

// unstall lets one entity go on if all wait for each other: the one that has waited longest at a gate or for a lock. In
// the recording they did go on, so the meaning of an object is wrong.
func (r *run) unstall() bool {
	best := int32(recording.No)
	for i := range r.ents {
		s := r.ents[i].state
		if (s == stopped || s == queued) && r.ents[i].needed && (best < 0 || r.ents[i].since < r.ents[best].since) {
			best = int32(i)
		}
	}
	if best < 0 {
		return false
	}
	r.stalls++
	r.out.Stalls++
	for p := range r.pools {
		r.pools[p].blocked = remove(r.pools[p].blocked, best)
	}
	for l := range r.locks {
		r.locks[l].queue = remove(r.locks[l].queue, best)
	}
	a := &r.ents[best]
	switch do := r.w.entities[best].actions[a.pos]; {
	case a.state == stopped:
		gate := r.m.waits[do.of].gate
		r.flags[gate] |= reached
		r.late[gate] = without(r.ents, r.late[gate], best)
	case do.deed == doAcquire:
		r.locks[do.of].owner = best
	case do.deed == doWake && r.m.waits[do.of].pool >= 0:
		a.pos++
		r.giveToPool(&r.pools[r.m.waits[do.of].pool], &r.m.waits[do.of])
	}
	r.wake(best)
	return true
}

// served ends waits of givers for takers of a queue that have nothing left to take. In the recording another of them
// took what a giver had given, and did more for others, or less. But if all takers wait, all has been done: there is
// room again, and each answer was given.
func (r *run) served(pool int32) {
	if !r.allTakersWait(pool) {
		return
	}
	for i := range r.ents {
		a := &r.ents[i]
		if a.state == asleep && a.wait >= 0 && r.flags[a.wait]&open != 0 && r.isServed(int32(i), a.wait) {
			r.flags[a.wait] = r.flags[a.wait]&^open | ended
			r.wake(int32(i))
		}
	}
}

// allTakersWait reports whether nobody has anything to do that was taken from a queue, or waits there to be taken.
func (r *run) allTakersWait(pool int32) bool {
	p := &r.pools[pool]
	return p.tokens == 0 && len(p.takers) == int(r.w.takers[pool])
}

// isServed reports whether an entity waits for a taker of the queue that it gives to.
func (r *run) isServed(i, n int32) bool {
	w, gives := &r.m.waits[n], r.w.entities[i].gives
	return gives >= 0 && w.ends == byWake && w.pool < 0 && r.w.entities[w.by].takes == gives
}

// without takes an entity out of those that wait at one gate.
func without(ents []actor, first, i int32) int32 {
	if first == i && i >= 0 {
		next := ents[i].next
		ents[i].next = recording.No
		return next
	}
	for j := first; j >= 0; j = ents[j].next {
		if ents[j].next == i {
			ents[j].next, ents[i].next = ents[i].next, recording.No
		}
	}
	return first
}

// remove takes an entity out of a list.
func remove(list []int32, i int32) []int32 {
	for k, x := range list {
		if x == i {
			return append(list[:k], list[k+1:]...)
		}
	}
	return list
}
