package simulate

import (
	"math"

	"whatif/internal/recording"
)

// The scheduler of the simulated machine is a small EEVDF, as Linux has it since 6.6: each core has a queue. A
// thread's virtual runtime grows as it runs, slower for more important ones. Of the threads that have had no more
// than the queue's average, the one with the earliest deadline runs: its virtual runtime, when it last began a slice,
// plus a slice. A thread that was woken keeps the lag with which it went to sleep. It takes the core if it is
// eligible with an earlier deadline, and the current thread has had the core for a time that the recording shows.

// The slice is that of the recording, if it shows enough threads that lost their cores to others which wanted them
// all the time. Otherwise it is that of Linux on small machines.
const (
	defaultSlice = 3e6
	leastSlice   = 1e5 // EEVDF takes no shorter ones
	fewStints    = 10
)

// goroutineSlice is how long a goroutine keeps its thread while others want it (forcePreemptNS in Go's runtime).
const goroutineSlice = 10e6

// interval returns how much time is between two comparisons of loads: 16 times (busy_factor) one millisecond a core,
// up to eight cores.
func (r *run) interval() float64 {
	return 16e6 * float64(min(r.ncores, 8))
}

// account is an entity's virtual time.
type account struct {
	virtual, deadline, lag float64
}

// core is the state of a core.
type core struct {
	current int32 // No: it is idle
	pending bool  // it is waking up
	queue   []int32
	since   float64 // until when its current entity's run is booked
	stint   float64 // when its current entity came
	gen     uint32  // of the events that are meant for this stint
	yield   bool    // an entity that has just been woken takes the core from the current one
	next    int32   // the goroutine that runs next; No
	first   int32   // the thread that runs next, whatever its account says; No
	shared  account // of all goroutines: they run on the same threads

	// Of the entities that want the core or have it:
	threads, goroutines int
	sum, weights        float64 // of the threads: virtual time by weight
	average             float64 // of all, when there last were some
	busy                float64 // how long entities of the target have run on it
}

// accountOf returns the account that an entity's time on a core is booked to.
func (r *run) accountOf(i, c int32) *account {
	if r.w.entities[i].goroutine {
		return &r.cores[c].shared
	}
	return &r.ents[i].account
}

// mean returns the virtual time of a core: the average of its entities', by weight.
func (r *run) mean(c int32) float64 {
	k := &r.cores[c]
	sum, weights := k.sum, k.weights
	if k.goroutines > 0 {
		sum += k.shared.virtual
		weights++
	}
	if weights > 0 {
		k.average = sum / weights
	}
	return k.average
}

// enter counts an entity among those that want a core or have it.
func (r *run) enter(i, c int32) {
	k, e := &r.cores[c], &r.w.entities[i]
	if e.goroutine {
		k.goroutines++
		return
	}
	k.threads++
	k.sum += e.weight * r.ents[i].virtual
	k.weights += e.weight
}

// exit is the opposite of enter.
func (r *run) exit(i, c int32) {
	k, e := &r.cores[c], &r.w.entities[i]
	if e.goroutine {
		k.goroutines--
		return
	}
	k.threads--
	k.sum -= e.weight * r.ents[i].virtual
	k.weights -= e.weight
	if k.threads == 0 {
		k.sum, k.weights = 0, 0 // without errors of rounding
	}
}

// can reports whether an entity may run on a core.
func (r *run) can(i, c int32) bool {
	list := r.w.entities[i].allowed
	if list == nil || int(c) < len(list) && list[c] {
		return true
	}
	for k := range min(len(list), r.ncores) {
		if list[k] {
			return false
		}
	}
	return true // none of its cores is there
}

// idle reports whether a core has nothing to do.
func (r *run) idle(c int32) bool {
	k := &r.cores[c]
	return k.current < 0 && !k.pending && len(k.queue) == 0
}

// load returns how many entities want a core.
func (r *run) load(c int32) int {
	n := len(r.cores[c].queue)
	if r.cores[c].current >= 0 {
		n++
	}
	return n
}

// becomesAble lets an entity wait for a core: an idle one, which takes some time to run it; or the one with the least
// to do. The last one that it had is preferred.
func (r *run) becomesAble(i int32, latency float64) {
	a := &r.ents[i]
	slept := r.now - a.since
	a.since = r.now
	r.set(i, able)
	if a.lag < 0 {
		a.lag = math.Min(0, a.lag+slept) // what it has had too much is forgotten meanwhile
	}
	idle, least := int32(recording.No), int32(recording.No)
	better := func(c int32) {
		if !r.can(i, c) {
			return
		}
		if idle < 0 && r.idle(c) {
			idle = c
		}
		if least < 0 || r.load(c) < r.load(least) {
			least = c
		}
	}
	if a.core >= 0 && int(a.core) < r.ncores {
		better(a.core)
	}
	for c := range int32(r.ncores) {
		better(c)
	}
	if r.w.entities[i].goroutine && r.at >= 0 && r.can(i, r.at) {
		r.enqueue(i, r.at)
		r.cores[r.at].next = i
		if idle >= 0 {
			r.dispatchAt(idle, latency) // it steals the goroutine, unless its maker waits first
		}
		r.stint(r.at)
		return
	}
	if idle >= 0 {
		r.enqueue(i, idle)
		r.dispatchAt(idle, latency)
		return
	}
	r.charge(least)
	r.enqueue(i, least)
	r.preempt(i, least)
}

// dispatchAt lets an idle core look for something to run, after the time that it needs to wake up.
func (r *run) dispatchAt(c int32, latency float64) {
	r.cores[c].pending = true
	r.push(event{at: r.now + latency, kind: dispatches, of: c})
}

// enqueue puts an entity into a core's queue, with its lag.
func (r *run) enqueue(i, c int32) {
	k, a := &r.cores[c], &r.ents[i]
	mean := r.mean(c)
	weight := r.w.entities[i].weight
	if !r.w.entities[i].goroutine {
		a.virtual = mean - a.lag
		a.deadline = a.virtual + r.m.slice/weight
	} else if k.goroutines == 0 {
		k.shared.virtual = math.Max(k.shared.virtual, mean)
		k.shared.deadline = k.shared.virtual + r.m.slice
	}
	r.enter(i, c)
	r.seq++
	a.order, a.core = r.seq, c
	k.queue = append(k.queue, i)
}

// preempt decides whether an entity that has just come into a core's queue takes the core from the current one. A
// thread that a clock or something outside has woken does so as often as in the recording, evenly spread. Of other
// threads, and of one that was hardly seen to come to a core that another one had, EEVDF decides: a thread that wakes
// another often holds a lock that this one needs at once.
func (r *run) preempt(i, c int32) {
	k := &r.cores[c]
	if k.current < 0 {
		return // it will look for itself
	}
	a := &r.ents[i]
	if urge := r.w.entities[i].urge; urge >= 0 && a.wait >= 0 && r.m.waits[a.wait].ends != byWake {
		if a.urge += urge; a.urge >= 1 {
			a.urge--
			k.yield, k.first = true, i
		}
		r.stint(c)
		return
	}
	old, new := r.accountOf(k.current, c), r.accountOf(i, c)
	if old != new && new.virtual < old.virtual && new.deadline < old.deadline && r.now-k.stint >= r.m.protect {
		k.yield = true
	}
	r.stint(c)
}

// charge books what the current entity of a core has run.
func (r *run) charge(c int32) {
	k := &r.cores[c]
	ran := r.now - k.since
	k.since = r.now
	if k.current < 0 || ran <= 0 {
		return
	}
	e := &r.w.entities[k.current]
	a := &r.ents[k.current]
	a.left = math.Max(0, a.left-ran) // never below 0 by an error of rounding: that would be no run at all
	account := r.accountOf(k.current, c)
	account.virtual += ran / e.weight
	if !e.goroutine {
		k.sum += ran
	}
	k.busy += ran
	if len(k.queue) == 0 && account.virtual >= account.deadline {
		account.deadline = account.virtual + r.m.slice/e.weight // nobody wanted the core
	}
}

// stint says until when the current entity of a core runs: to the end of its run, or of its slice.
func (r *run) stint(c int32) {
	k := &r.cores[c]
	i := k.current
	if i < 0 {
		return
	}
	k.gen++
	if k.yield {
		r.push(event{at: r.now, kind: preempts, of: c, gen: k.gen})
		return
	}
	d := math.Max(0, r.ents[i].left)
	if len(k.queue) > 0 {
		e, account := &r.w.entities[i], r.accountOf(i, c)
		if !e.goroutine || k.threads > 0 {
			d = math.Min(d, math.Max(0, (account.deadline-account.virtual)*e.weight))
		} else {
			d = math.Min(d, math.Max(0, goroutineSlice-(r.now-k.stint)))
		}
	}
	r.push(event{at: r.now + d, kind: stintEnds, of: c, gen: k.gen})
}

// stintOver goes on with what comes behind a run, or after a slice.
func (r *run) stintOver(c int32) {
	r.charge(c)
	if r.ents[r.cores[c].current].left > instant {
		r.requeue(c)
		r.dispatch(c)
	} else if !r.goOn(c) {
		r.dispatch(c)
	}
}

// goOn lets the current entity of a core go on with its program: until its next run, or off the core. It tells whether
// the entity runs.
func (r *run) goOn(c int32) bool {
	r.at = c
	runs := r.proceed(r.cores[c].current)
	r.at = recording.No
	if runs {
		r.stint(c)
	} else {
		r.leave(c)
	}
	return runs
}

// leave takes the current entity off its core: it waits.
func (r *run) leave(c int32) {
	k := &r.cores[c]
	i := k.current
	if !r.w.entities[i].goroutine {
		limit := r.m.slice / r.w.entities[i].weight
		a := &r.ents[i]
		a.lag = math.Max(-limit, math.Min(limit, r.mean(c)-a.virtual))
	} else {
		r.mean(c)
	}
	r.exit(i, c)
	k.current, k.yield = recording.No, false
	k.gen++
}

// requeue takes the current entity off its core: others want it. If its slice is over, it gets a new one.
func (r *run) requeue(c int32) {
	r.charge(c)
	k := &r.cores[c]
	i := k.current
	account := r.accountOf(i, c)
	if account.virtual >= account.deadline-instant {
		account.deadline = account.virtual + r.m.slice/r.w.entities[i].weight
	}
	k.current, k.yield = recording.No, false
	k.gen++
	r.set(i, able)
	r.ents[i].since = r.now
	r.seq++
	r.ents[i].order = r.seq
	k.queue = append(k.queue, i)
}

// dispatch gives a core to an entity, if it has none and one wants it.
func (r *run) dispatch(c int32) {
	k := &r.cores[c]
	for k.current < 0 && !r.done {
		if len(k.queue) == 0 && !r.pull(c) {
			return
		}
		i := r.pick(c)
		a := &r.ents[i]
		r.out.Waited[recording.CPU] += int64(math.Round(r.now - a.since))
		r.set(i, active)
		k.current, k.since, k.stint = i, r.now, r.now
		k.gen++
		if r.goOn(c) {
			return
		}
	}
}

// pick takes the entity that runs next out of a core's queue.
func (r *run) pick(c int32) int32 {
	k := &r.cores[c]
	mean := r.mean(c)
	best, at := (*account)(nil), 0
	for n, i := range k.queue {
		if i == k.first {
			at = n
			break
		}
		a := r.accountOf(i, c)
		switch {
		case best == nil:
		case a == best: // two goroutines
			first := k.queue[at]
			if first == k.next || i != k.next && r.ents[first].order < r.ents[i].order {
				continue
			}
		case !sooner(a, best, mean):
			continue
		}
		best, at = a, n
	}
	i := k.queue[at]
	k.queue = append(k.queue[:at], k.queue[at+1:]...)
	k.first = recording.No
	if i == k.next {
		k.next = recording.No
	}
	return i
}

// sooner reports whether an account comes before another: if it alone is eligible, or has the earlier deadline.
func sooner(a, b *account, mean float64) bool {
	ok, than := a.virtual <= mean+instant, b.virtual <= mean+instant
	switch {
	case ok != than:
		return ok
	case ok:
		return a.deadline < b.deadline
	}
	return a.virtual < b.virtual
}

// pull takes an entity that waits from the core with the most to do. A thread that is the only one of its core is about
// to run there.
func (r *run) pull(c int32) bool {
	from := int32(recording.No)
	for d := range int32(r.ncores) {
		if d != c && len(r.cores[d].queue) > 0 && (from < 0 || r.load(d) > r.load(from)) && r.movable(d, c) >= 0 {
			from = d
		}
	}
	if from < 0 {
		return false
	}
	r.move(from, c, r.movable(from, c))
	return true
}

// movable returns where in a core's queue the entity is that another core takes: the first that may run there. No:
// none.
func (r *run) movable(from, to int32) int {
	k := &r.cores[from]
	best := recording.No
	for n, i := range k.queue {
		if r.can(i, to) && (k.current >= 0 || r.w.entities[i].goroutine || len(k.queue) > 1) &&
			(best < 0 || r.ents[i].order < r.ents[k.queue[best]].order) {
			best = n
		}
	}
	return best
}

// move takes an entity from one queue to another, with its lag.
func (r *run) move(from, to int32, n int) {
	k := &r.cores[from]
	r.charge(from)
	i := k.queue[n]
	a := &r.ents[i]
	a.lag = r.mean(from) - a.virtual
	r.exit(i, from)
	k.queue = append(k.queue[:n], k.queue[n+1:]...)
	if k.next == i {
		k.next = recording.No
	}
	since := a.since
	r.enqueue(i, to)
	a.since = since
	if k.current >= 0 && len(k.queue) == 0 {
		r.stint(from)
	}
}

// level compares loads, and moves an entity from the core with the most to that with the least to do. A difference of
// one moves, too, as on Linux: three threads share two cores evenly, in the long run.
func (r *run) level() {
	most, least := int32(0), int32(0)
	for c := range int32(r.ncores) {
		if r.load(c) > r.load(most) {
			most = c
		}
		if r.load(c) <= r.load(least) {
			least = c
		}
	}
	if r.load(most) < 2 || r.load(most) <= r.load(least) || r.load(least) == 0 {
		return // an idle core has looked for itself
	}
	if n := r.movable(most, least); n >= 0 {
		r.charge(least)
		r.move(most, least, n)
		r.stint(least)
	}
}
