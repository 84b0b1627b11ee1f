package simulate

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// How threads wait for each other while the simulation plays: waits begin and end, queues and locks let one go on, and
// if all wait, one is let go.

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
	if w.server >= 0 {
		return r.ask(i, n)
	}
	part, slower := r.part(w), r.device.of(w)
	switch w.ends {
	case after:
		r.until(i, r.now+part*slower*w.length())
		return false
	case atMoment: // the source of these moments is slower, too
		at := slower * (float64(w.end) + a.cycles*(r.w.length-r.w.entities[i].start))
		if part != 1 {
			at = r.now + part*slower*w.length()
		}
		return r.waitUntil(i, at)
	case answered:
		at := r.visited[w.asks] + slower*w.delay
		if math.IsNaN(at) {
			at = r.now + slower*w.length()
		}
		return r.waitUntil(i, r.now+part*math.Max(0, at-r.now))
	case held:
		return !r.held || r.waitUntil(i, float64(w.end)+a.cycles*(r.w.length-r.w.entities[i].start))
	case byWake:
		return r.waitForWake(i, w, part)
	}
	r.set(i, asleep)
	r.finished(i)
	return false
}

// waitUntil waits until a time. It returns whether that is over.
func (r *run) waitUntil(i int32, at float64) bool {
	if at <= r.now {
		return true
	}
	r.until(i, at)
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

// acquire takes a lock, or waits for it. A goroutine that was woken for it in vain is the next one again.
func (r *run) acquire(i, o int32) bool {
	l, a := &r.locks[o], &r.ents[i]
	if l.owner == recording.No || l.owner == i {
		l.owner, a.asked = i, math.NaN()
		a.pos++
		return true
	}
	if math.IsNaN(a.asked) || !r.m.locks[o].fair {
		a.asked = r.now
		l.queue = append(l.queue, i)
	} else {
		l.queue = slices.Insert(l.queue, 0, i)
		l.starving = l.starving || r.now-a.asked >= goPatience
	}
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
	next, is := l.queue[0], &r.m.locks[o]
	hands := !is.barging
	if is.fair {
		hands = l.starving
	}
	if hands {
		l.starving = l.starving && len(l.queue) > 1 && r.now-r.ents[next].asked >= goPatience
		l.owner = next
		r.ents[next].pos++
		r.ents[next].asked = math.NaN()
	}
	if hands && is.fair && r.at >= 0 {
		r.cores[r.at].yield = true
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
	r.becomesAble(i, r.device.wake*latency)
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
	case do.deed == doTake:
		r.servers[do.of].sleeping = remove(r.servers[do.of].sleeping, best)
		a.pos++
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
