package synthetic

import "whatif/internal/recording"

// Queue is a queue of bounded size, made of a lock and two condition variables.
type Queue struct {
	lock            *Mutex
	room, something *Condition
	jobs            []uint64
	size            int
	outside         bool // signal after unlocking
}

// Queue makes a queue.
func (m *Machine) Queue(size int, fair, outside bool) *Queue {
	return &Queue{lock: m.Mutex(fair), room: m.Condition(), something: m.Condition(), size: size, outside: outside}
}

// Put adds a job, when there is room.
func (t *Task) Put(q *Queue, job uint64) {
	t.Lock(q.lock)
	for len(q.jobs) >= q.size {
		t.WaitCondition(q.room, q.lock)
	}
	q.jobs = append(q.jobs, job)
	t.signalAndUnlock(q, q.something)
}

// Take takes the oldest job, when there is one.
func (t *Task) Take(q *Queue) uint64 {
	t.Lock(q.lock)
	for len(q.jobs) == 0 {
		t.WaitCondition(q.something, q.lock)
	}
	job := q.jobs[0]
	q.jobs = q.jobs[1:]
	t.signalAndUnlock(q, q.room)
	return job
}

func (t *Task) signalAndUnlock(q *Queue, c *Condition) {
	if q.outside {
		t.Unlock(q.lock)
		t.Signal(c)
		return
	}
	t.Signal(c)
	t.Unlock(q.lock)
}

// Pipe is a pipe or a connection through a socket, within the target. It takes a number of messages.
type Pipe struct {
	object    int32
	send, get string
	messages  []uint64
	size      int
	readers   []*waiter
	writers   []*waiter
	poll      *Poll // that is told of messages; nil: none
}

// Pipe makes a pipe, or a socket.
func (m *Machine) Pipe(size int, socket bool) *Pipe {
	if socket {
		return &Pipe{object: m.object(recording.Socket, 0), send: "send", get: "recv", size: size}
	}
	return &Pipe{object: m.object(recording.Pipe, 0), send: "write", get: "read", size: size}
}

// Send writes a message, when there is room.
func (t *Task) Send(p *Pipe, message uint64) {
	t.system(p.send, costMessage)
	for len(p.messages) >= p.size {
		w := &waiter{task: t}
		p.writers = append(p.writers, w)
		t.await(w, p.send, p.object, recording.Lock)
	}
	p.messages = append(p.messages, message)
	if p.poll != nil {
		t.releaseFirst(&p.poll.waiters, p.send, p.poll.object)
		return
	}
	t.releaseFirst(&p.readers, p.send, p.object)
}

// Poll waits for messages in any of several pipes, as epoll does.
type Poll struct {
	object  int32
	pipes   []*Pipe
	next    int // the pipe that is looked at first, so that each has its turn
	waiters []*waiter
}

// Poll makes an object that waits for pipes.
func (m *Machine) Poll(pipes ...*Pipe) *Poll {
	p := &Poll{object: m.object(recording.Poll, 0), pipes: pipes}
	for _, pipe := range pipes {
		pipe.poll = p
	}
	return p
}

// Ready waits until a pipe has a message, and says which.
func (t *Task) Ready(p *Poll) int {
	for {
		t.system("epoll_wait", costSystem)
		for i := range p.pipes {
			n := (p.next + i) % len(p.pipes)
			if len(p.pipes[n].messages) > 0 {
				p.next = n + 1
				return n
			}
		}
		w := &waiter{task: t}
		p.waiters = append(p.waiters, w)
		t.await(w, "epoll_wait", p.object, recording.Lock)
	}
}

// Receive reads a message, when there is one.
func (t *Task) Receive(p *Pipe) uint64 {
	t.system(p.get, costMessage)
	for len(p.messages) == 0 {
		w := &waiter{task: t}
		p.readers = append(p.readers, w)
		t.await(w, p.get, p.object, recording.Lock)
	}
	message := p.messages[0]
	p.messages = p.messages[1:]
	t.releaseFirst(&p.writers, p.get, p.object)
	return message
}

func (t *Task) releaseFirst(list *[]*waiter, call string, object int32) {
	if len(*list) == 0 {
		return
	}
	w := (*list)[0]
	*list = (*list)[1:]
	t.release(w, call, object)
}

// Device is a disk. It does as many things at once as it has channels; others wait inside it.
type Device struct {
	free []int64 // when each channel is free again
}

// Device makes a disk.
func (m *Machine) Device(channels int) *Device {
	return &Device{free: make([]int64, channels)}
}

// Read reads from a disk, Write writes and waits until that is safe.
func (t *Task) Read(d *Device, takes Distribution) { t.disk(d, "pread64", takes) }

// Write writes to a disk.
func (t *Task) Write(d *Device, takes Distribution) { t.disk(d, "fdatasync", takes) }

func (t *Task) disk(d *Device, call string, takes Distribution) {
	t.system(call, costDevice)
	m := t.m
	channel := 0
	for i, free := range d.free {
		if free < d.free[channel] {
			channel = i
		}
	}
	ns := less(takes.at(unit(t.draw(stepDisk))), m.change.Disks)
	done := max(d.free[channel], m.now) + ns
	d.free[channel] = done
	m.after(done-m.now, func() { m.wake(nil, t, recording.ByDevice, recording.No) })
	t.block(call, recording.No, recording.Disk)
}

// Peer is what answers requests, outside of the target.
type Peer struct {
	object int32
	near   bool // a process on this machine
}

// Peer makes a connection to something outside of the target.
func (m *Machine) Peer(near bool) *Peer {
	return &Peer{object: m.object(recording.Socket, 0), near: near}
}

// Ask sends something to a peer and waits for the answer.
func (t *Task) Ask(p *Peer, takes Distribution) {
	t.system("send", costMessage)
	t.system("recv", costMessage)
	cause := recording.ByDevice
	if p.near {
		cause = recording.ByStranger
	}
	ns := less(takes.at(unit(t.draw(stepNet))), t.m.change.Nets)
	t.m.after(ns, func() { t.m.wake(nil, t, cause, recording.No) })
	t.block("recv", p.object, recording.Net)
}
