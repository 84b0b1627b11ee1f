package synthetic

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// core is one core with its own queue of threads that wait for it.
type core struct {
	number     int16
	task       *Task // that runs; nil: the core is idle
	queue      []*Task
	floor      float64 // the least virtual runtime of its threads; it never falls
	since      int64   // up to which the running thread's time is accounted for
	cost       int64   // ns of switching that are still to be done
	spent      int64   // ns of the slice that are used
	generation uint64  // of the planned end of the stint; older plans are void
	waking     bool    // idle, and about to get at its queue
	offline    bool
}

func (m *Machine) addCore() {
	m.cores = append(m.cores, &core{number: int16(len(m.cores)), since: m.now})
}

// account adds what the running thread has run since the last call.
func (m *Machine) account(c *core) {
	ran := m.now - c.since
	c.since = m.now
	if c.task == nil || ran == 0 {
		return
	}
	t := c.task
	if m.watch != nil && !t.stranger {
		m.watch.same.Busy += ran
	}
	t.virtual += float64(ran) / t.weight
	c.spent += ran
	switching := min(ran, c.cost)
	c.cost -= switching
	t.need -= ran - switching
	least := t.virtual
	for _, q := range c.queue {
		least = min(least, q.virtual)
	}
	c.floor = max(c.floor, least)
}

// plan says when the running thread next has to be looked at: when its step is over, or its slice.
func (m *Machine) plan(c *core) {
	c.generation++
	if c.task == nil {
		return
	}
	ns := c.cost + c.task.need
	if len(c.queue) > 0 {
		ns = min(ns, max(m.hardware.Slice-c.spent, 0))
	}
	m.sequence++
	m.events.push(event{at: m.now + ns, sequence: m.sequence, core: c, generation: c.generation})
}

// stintOver goes on with the script of the running thread, or gives the core to another thread.
func (m *Machine) stintOver(c *core) {
	m.account(c)
	t := c.task
	if c.cost == 0 && t.need == 0 {
		t.resume()
		if t.state != running {
			t.since = m.now
			m.dispatch(c, t)
			return
		}
	}
	if len(c.queue) > 0 && c.spent >= m.hardware.Slice {
		c.spent = 0
		if next := least(c.queue); next.virtual < t.virtual {
			m.preempt(c)
			return
		}
	}
	m.plan(c)
}

func least(queue []*Task) *Task {
	return slices.MinFunc(queue, func(a, b *Task) int {
		switch {
		case a.virtual < b.virtual:
			return -1
		case a.virtual > b.virtual:
			return 1
		}
		return a.number - b.number
	})
}

// preempt puts the running thread back into the queue.
func (m *Machine) preempt(c *core) {
	t := c.task
	t.state, t.since = runnable, m.now
	c.queue = append(c.queue, t)
	m.dispatch(c, t)
}

// dispatch gives a core to the thread of its queue that has run least. Before was on the core; nil: nothing was.
func (m *Machine) dispatch(c *core, before *Task) {
	var next *Task
	if len(c.queue) == 0 && !c.offline {
		m.pull(c)
	}
	if len(c.queue) > 0 {
		next = least(c.queue)
		c.remove(next)
	}
	c.task, c.since, c.spent, c.cost = next, m.now, 0, 0
	if next != nil {
		m.waited(next, recording.CPU)
		next.state, next.core = running, c
		c.cost = less(m.hardware.Switching, m.change.Computes)
	}
	if m.recorder != nil && (before != nil || next != nil) {
		m.recorder.switched(c, before, next)
	}
	m.plan(c)
}

func (c *core) remove(t *Task) {
	c.queue = slices.DeleteFunc(c.queue, func(q *Task) bool { return q == t })
}

// pull takes a thread from the longest queue.
func (m *Machine) pull(to *core) {
	var from *core
	var best *Task
	for _, c := range m.cores {
		if c == to || c.task == nil || from != nil && len(c.queue) <= len(from.queue) {
			continue
		}
		for _, t := range c.queue {
			if t.allowed(to) {
				from, best = c, t
				break
			}
		}
	}
	if best != nil {
		m.move(best, from, to)
	}
}

// move changes the queue in which a thread waits. Virtual runtimes mean something within a core only.
func (m *Machine) move(t *Task, from, to *core) {
	from.remove(t)
	t.virtual += to.floor - from.floor
	t.core = to
	to.queue = append(to.queue, t)
}

// wakeUp makes a thread runnable and finds a core for it.
func (m *Machine) wakeUp(t *Task) {
	t.state, t.since = runnable, m.now
	t.wakes++
	c := m.place(t)
	if c != t.core {
		t.virtual += c.floor - t.core.floor
		t.core = c
	}
	t.virtual = max(t.virtual, c.floor-m.hardware.Credit)
	m.enqueue(c, t)
}

// place chooses a core: the last one if it is idle, else any idle one, else the one with the fewest threads.
func (m *Machine) place(t *Task) *core {
	best, fewest := (*core)(nil), math.MaxInt
	for i := range m.cores {
		c := m.cores[(int(t.core.number)+i)%len(m.cores)]
		if c.offline || !t.allowed(c) {
			continue
		}
		n := len(c.queue)
		if c.task != nil {
			n++
		}
		if n < fewest {
			best, fewest = c, n
		}
	}
	return best
}

func (m *Machine) enqueue(c *core, t *Task) {
	m.account(c)
	c.queue = append(c.queue, t)
	switch {
	case c.task == nil && !c.waking:
		c.waking = true
		latency := less(m.hardware.Latency, m.change.Wakes)
		m.after(latency/2+int64(float64(latency)*unit(mix(m.seed, t.key, t.wakes, 77))), func() { m.awake(c) })
	case c.task != nil:
		m.plan(c)
		if t.virtual+m.hardware.Preempt < c.task.virtual {
			m.after(costSignal, func() { m.reschedule(c) })
		}
	}
}

// awake is called when an idle core has woken up.
func (m *Machine) awake(c *core) {
	c.waking = false
	if c.task == nil && len(c.queue) > 0 {
		m.dispatch(c, nil)
	}
}

// reschedule gives the core to a woken thread that has run much less.
func (m *Machine) reschedule(c *core) {
	if c.task == nil || len(c.queue) == 0 {
		return
	}
	m.account(c)
	if least(c.queue).virtual+m.hardware.Preempt < c.task.virtual {
		m.preempt(c)
	}
}

// balance moves a thread where one core has at least two more than another.
func (m *Machine) balance() {
	m.even(2)
	m.after(balancing, m.balance)
}

// rotate moves a thread where one core has more than another, so that it is not always the same thread that has a core
// for itself.
func (m *Machine) rotate() {
	m.even(1)
	m.after(m.hardware.Rotate, m.rotate)
}

func (m *Machine) even(difference int) {
	var most, fewest *core
	for _, c := range m.cores {
		if c.offline || c.task == nil {
			continue
		}
		if most == nil || len(c.queue) > len(most.queue) {
			most = c
		}
		if fewest == nil || len(c.queue) < len(fewest.queue) {
			fewest = c
		}
	}
	if most == nil || len(most.queue)-len(fewest.queue) < difference {
		return
	}
	m.account(most)
	m.account(fewest)
	for _, t := range most.queue {
		if t.allowed(fewest) {
			m.move(t, most, fewest)
			m.plan(most)
			m.plan(fewest)
			return
		}
	}
}

// setCores adds cores, or takes cores away.
func (m *Machine) setCores(n int) {
	for len(m.cores) < n {
		m.addCore()
		c := m.cores[len(m.cores)-1]
		m.after(0, func() {
			if c.task == nil {
				m.dispatch(c, nil)
			}
		})
	}
	for _, c := range m.cores[n:] {
		c.offline = true
		left := c.queue
		c.queue = nil
		if c.task != nil {
			left = append(left, c.task)
			c.task = nil
		}
		for _, t := range left {
			t.state = runnable
			to := m.place(t)
			t.virtual += to.floor - c.floor
			t.core = to
			m.enqueue(to, t)
		}
	}
}
