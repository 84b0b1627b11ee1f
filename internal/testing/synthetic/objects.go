package synthetic

import (
	"slices"

	"whatif/internal/recording"
)

// Mutex is a lock, made of a futex as glibc makes it: a thread that comes while a woken one is on its way takes it.
// A fair mutex is handed to the thread that waited longest.
type Mutex struct {
	object  int32
	fair    bool
	state   int // 0 free, 1 taken, 2 taken and perhaps waited for
	waiters []*Task
}

// Mutex makes a lock.
func (m *Machine) Mutex(fair bool) *Mutex {
	return &Mutex{object: m.object(recording.Futex, 0), fair: fair}
}

// Lock takes a lock.
func (t *Task) Lock(x *Mutex) {
	t.library("pthread_mutex_lock", costCall)
	if x.state == 0 {
		x.state = 1
		return
	}
	for {
		t.system("futex", costSystem)
		free := x.state == 0
		x.state = 2
		if free {
			return
		}
		x.waiters = append(x.waiters, t)
		t.block("pthread_mutex_lock", x.object, recording.Lock)
		if x.fair {
			return // the thread that unlocked it has handed it over
		}
	}
}

// Unlock releases a lock.
func (t *Task) Unlock(x *Mutex) {
	t.library("pthread_mutex_unlock", costCall)
	if x.state == 0 {
		panic("synthetic: unlocked a free mutex")
	}
	was := x.state
	if x.fair && len(x.waiters) > 0 {
		first := x.waiters[0]
		x.waiters = x.waiters[1:]
		t.system("futex", costWake)
		t.m.wake(t, first, recording.ByThread, t.at("pthread_mutex_unlock", x.object))
		return
	}
	x.state = 0
	if was == 2 {
		t.system("futex", costWake)
		// A fair mutex has been taken by another thread if one waits for it by now, and that thread hands it over.
		if len(x.waiters) > 0 && !x.fair {
			first := x.waiters[0]
			x.waiters = x.waiters[1:]
			t.m.wake(t, first, recording.ByThread, t.at("pthread_mutex_unlock", x.object))
		}
	}
}

// Condition is a condition variable.
type Condition struct {
	object  int32
	waiters []*waiter
}

// Condition makes a condition variable.
func (m *Machine) Condition() *Condition {
	return &Condition{object: m.object(recording.Futex, 0)}
}

// WaitCondition unlocks, waits for a signal, and locks again.
func (t *Task) WaitCondition(c *Condition, x *Mutex) {
	t.library("pthread_cond_wait", costCall)
	w := &waiter{task: t}
	c.waiters = append(c.waiters, w)
	t.Unlock(x)
	t.system("futex", costSystem)
	t.await(w, "pthread_cond_wait", c.object, recording.Lock)
	t.Lock(x)
}

// WaitConditionFor does the same, but not longer than some ns. It says whether there was a signal.
func (t *Task) WaitConditionFor(c *Condition, x *Mutex, ns int64) bool {
	t.library("pthread_cond_clockwait", costCall)
	w := &waiter{task: t}
	c.waiters = append(c.waiters, w)
	t.Unlock(x)
	t.system("futex", costSystem)
	t.m.after(ns, func() {
		if w.released {
			return
		}
		w.released, w.expired = true, true
		c.waiters = slices.DeleteFunc(c.waiters, func(o *waiter) bool { return o == w })
		if w.blocked {
			t.class = recording.Sleep
			t.m.wake(nil, t, recording.ByTimer, recording.No)
		}
	})
	t.await(w, "pthread_cond_clockwait", c.object, recording.Lock)
	t.Lock(x)
	return !w.expired
}

// Signal wakes the thread that has waited longest.
func (t *Task) Signal(c *Condition) {
	t.library("pthread_cond_signal", costCall)
	if len(c.waiters) == 0 {
		return
	}
	w := c.waiters[0]
	c.waiters = c.waiters[1:]
	t.release(w, "pthread_cond_signal", c.object)
}

// Broadcast wakes all.
func (t *Task) Broadcast(c *Condition) {
	t.library("pthread_cond_broadcast", costCall)
	t.releaseAll(&c.waiters, "pthread_cond_broadcast", c.object)
}

// releaseAll lets all waiters go on. None of them may go to sleep while others are woken.
func (t *Task) releaseAll(list *[]*waiter, call string, object int32) {
	all := *list
	*list = nil
	for _, w := range all {
		w.released = true
	}
	for _, w := range all {
		t.release(w, call, object)
	}
}

// Barrier lets threads go on when all have come.
type Barrier struct {
	object  int32
	size    int
	come    int
	waiters []*waiter
}

// Barrier makes a barrier for some threads.
func (m *Machine) Barrier(size int) *Barrier {
	return &Barrier{object: m.object(recording.Futex, 0), size: size}
}

// Meet waits at a barrier.
func (t *Task) Meet(b *Barrier) {
	t.library("pthread_barrier_wait", costCall)
	if b.come++; b.come == b.size {
		b.come = 0
		t.releaseAll(&b.waiters, "pthread_barrier_wait", b.object)
		return
	}
	w := &waiter{task: t}
	b.waiters = append(b.waiters, w)
	t.system("futex", costSystem)
	t.await(w, "pthread_barrier_wait", b.object, recording.Lock)
}

// Semaphore counts.
type Semaphore struct {
	object  int32
	count   int
	waiters []*waiter
}

// Semaphore makes a semaphore.
func (m *Machine) Semaphore(count int) *Semaphore {
	return &Semaphore{object: m.object(recording.Futex, 0), count: count}
}

// Post raises a semaphore.
func (t *Task) Post(s *Semaphore) {
	t.library("sem_post", costCall)
	if len(s.waiters) == 0 {
		s.count++
		return
	}
	w := s.waiters[0]
	s.waiters = s.waiters[1:]
	t.release(w, "sem_post", s.object)
}

// Acquire lowers a semaphore, and waits until it can.
func (t *Task) Acquire(s *Semaphore) {
	t.library("sem_wait", costCall)
	if s.count > 0 {
		s.count--
		return
	}
	w := &waiter{task: t}
	s.waiters = append(s.waiters, w)
	t.system("futex", costSystem)
	t.await(w, "sem_wait", s.object, recording.Lock)
}

// Commits is a group commit: one of the threads that want to write does it for all that have come by then.
type Commits struct {
	lock                   *Mutex
	over                   *Condition
	device                 *Device
	wanted, begun, written int // numbers of commits
	busy                   bool
}

// Commits makes a group commit to a device.
func (m *Machine) Commits(d *Device, fair bool) *Commits {
	return &Commits{lock: m.Mutex(fair), over: m.Condition(), device: d}
}

// Commit returns when what the thread wants to write is written.
func (t *Task) Commit(c *Commits, d Distribution) {
	t.Lock(c.lock)
	c.wanted++
	mine := c.wanted
	for c.written < mine {
		if c.busy {
			t.WaitCondition(c.over, c.lock)
			continue
		}
		c.busy, c.begun = true, c.wanted
		t.Unlock(c.lock)
		t.Write(c.device, d)
		t.Lock(c.lock)
		c.busy, c.written = false, c.begun
		t.Broadcast(c.over)
	}
	t.Unlock(c.lock)
}
