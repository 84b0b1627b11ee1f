package synthetic

import (
	"slices"

	"whatif/internal/recording"
)

// goRuntime is a runtime like Go's: some threads run goroutines, each from a queue of its own, and steal from each
// other. A goroutine is a Task, and its script runs inside that of a thread: what it needs, the thread runs.
type goRuntime struct {
	m       *Machine
	workers []*worker
	global  []*Task // goroutines that any thread may take
	expired []expired
	idle    []*waiter
}

// worker is a thread of the runtime.
type worker struct {
	task   *Task
	object int32
	next   *Task // that runs before the queue
	queue  []*Task
}

// expired is a goroutine that something outside has made ready, before a thread has noticed.
type expired struct {
	g     *Task
	cause recording.Cause
}

// The costs of the runtime, in ns.
const (
	costSchedule = 200
	costSpin     = 4000       // of looking for work before a thread sleeps
	mostAtOnce   = 10_000_000 // that a goroutine runs while others wait for its thread
)

// Golang makes the program one in Go: what Thread adds from now on is a goroutine, run by a number of threads.
func (m *Machine) Golang(threads int) {
	r := &goRuntime{m: m}
	for i := range threads {
		w := &worker{object: m.object(recording.Futex, 0)}
		r.workers = append(r.workers, w)
		w.task = m.thread(named("m", i), How{}, func(*Task) { r.loop(w) })
	}
	m.golang = r
}

func (r *goRuntime) goroutine(name string, how How, script func(*Task)) *Task {
	g := r.m.task(name, How{Process: how.Process}, mix(r.m.seed, hashed(name), uint64(len(r.m.tasks))), script)
	g.goroutine, g.state = true, runnable
	r.global = append(r.global, g)
	return g
}

// goName is what a Go program has in place of a call of the C library.
func goName(call string) string {
	names := map[string]string{
		"pthread_mutex_lock": "sync.(*Mutex).Lock", "pthread_mutex_unlock": "sync.(*Mutex).Unlock",
		"pthread_cond_wait": "sync.(*Cond).Wait", "pthread_cond_signal": "sync.(*Cond).Signal",
		"pthread_cond_broadcast": "sync.(*Cond).Broadcast", "pthread_barrier_wait": "sync.(*WaitGroup).Wait",
		"sem_wait": "runtime.chanrecv1", "sem_post": "runtime.chansend1",
		"read": "runtime.chanrecv1", "write": "runtime.chansend1", "recv": "net.(*conn).Read", "send": "net.(*conn).Write",
		"clock_nanosleep": "time.Sleep", "futex": "runtime.gopark",
	}
	if name, ok := names[call]; ok {
		return name
	}
	return call
}

// loop is the script of a thread of the runtime.
func (r *goRuntime) loop(w *worker) {
	t := w.task
	for {
		g := r.find(w, false)
		if g == nil {
			r.runs(w, nil)
			t.library("runtime.findRunnable", costSpin)
			g = r.find(w, true)
		}
		if g == nil {
			r.sleep(w)
			continue
		}
		t.library("runtime.schedule", costSchedule)
		r.execute(w, g)
	}
}

// sleep waits until there is something to run.
func (r *goRuntime) sleep(w *worker) {
	t, wait := w.task, &waiter{task: w.task}
	r.idle = append(r.idle, wait)
	t.system("futex", costSystem)
	if r.any(w) { // that has come since the thread looked
		r.idle = slices.DeleteFunc(r.idle, func(o *waiter) bool { return o == wait })
		return
	}
	t.await(wait, "runtime.futexsleep", w.object, recording.Lock)
}

// any says whether there is a goroutine that the thread could run.
func (r *goRuntime) any(w *worker) bool {
	return len(r.expired)+len(r.global)+len(w.queue) > 0 || slices.ContainsFunc(r.workers, func(o *worker) bool {
		return o.next != nil || len(o.queue) > 0
	})
}

// find takes the goroutine that a thread runs next. All: also one that another thread is about to run.
func (r *goRuntime) find(w *worker, all bool) *Task {
	for _, e := range r.expired {
		if r.m.recorder != nil {
			r.m.recorder.ready(nil, e.g, e.cause, w.task)
		}
		e.g.state = runnable
		w.queue = append(w.queue, e.g)
	}
	r.expired = nil
	if g := w.next; g != nil {
		w.next = nil
		return g
	}
	queues := []*[]*Task{&w.queue, &r.global}
	for _, o := range r.workers {
		queues = append(queues, &o.queue)
	}
	for _, q := range queues {
		if len(*q) > 0 {
			g := (*q)[0]
			*q = (*q)[1:]
			return g
		}
	}
	for _, o := range r.workers {
		if g := o.next; all && g != nil {
			o.next = nil
			return g
		}
	}
	return nil
}

func (r *goRuntime) runs(w *worker, g *Task) {
	if w.task.running == g {
		return
	}
	w.task.running = g
	if r.m.recorder != nil {
		r.m.recorder.runs(w.task, g)
	}
}

// execute runs a goroutine until it waits, or has run for long.
func (r *goRuntime) execute(w *worker, g *Task) {
	t := w.task
	g.state, g.on, g.started = running, t, r.m.now
	r.runs(w, g)
	for {
		g.resume()
		if g.state != running {
			g.on = nil
			t.running = nil
			// The next goroutine, or none, is recorded as soon as it is known.
			if !r.any(w) && r.m.recorder != nil {
				r.m.recorder.runs(t, nil)
			}
			return
		}
		t.run(g.stack, g.kind, g.need)
		if r.m.now-g.started > mostAtOnce && len(w.queue)+len(r.global) > 0 {
			g.state, g.on = runnable, nil
			r.global = append(r.global, g)
			t.running = nil
			return
		}
	}
}

// ready makes a goroutine runnable.
func (r *goRuntime) ready(by, g *Task, cause recording.Cause) {
	if by == nil {
		r.expired = append(r.expired, expired{g, cause})
		r.wakeOutside(cause)
		return
	}
	if r.m.recorder != nil {
		r.m.recorder.ready(by, g, cause, by.on)
	}
	g.state = runnable
	w := r.workers[slices.IndexFunc(r.workers, func(w *worker) bool { return w.task == by.on })]
	if w.next != nil {
		w.queue = append(w.queue, w.next)
	}
	w.next = g
	if len(r.idle) > 0 {
		idle := r.idle[len(r.idle)-1]
		r.idle = r.idle[:len(r.idle)-1]
		idle.released = true
		if idle.blocked {
			by.run(r.m.tables.stack(frameKernel, "futex", by.name, 0), none, costWake)
			on := by.on
			r.m.wake(on, idle.task, recording.ByThread, on.at("runtime.futexwakeup", idle.task.object))
		}
	}
}

// wakeOutside wakes a thread for what a timer or a packet has made ready.
func (r *goRuntime) wakeOutside(cause recording.Cause) {
	if len(r.idle) == 0 {
		return // a thread that runs finds it
	}
	idle := r.idle[len(r.idle)-1]
	r.idle = r.idle[:len(r.idle)-1]
	idle.released = true
	if idle.blocked {
		idle.task.class = recording.Net
		if cause == recording.ByTimer {
			idle.task.class = recording.Sleep
		}
		r.m.wake(nil, idle.task, cause, recording.No)
	}
}

// draftGoroutines: a program of another family, in Go.
func draftGoroutines(d *draft) func(*Machine) {
	inner := pick(d, draftBarrier, draftRendezvous, draftLock, draftPipeline, draftPipeline, draftPool, draftPool,
		draftBroadcast, draftSleep, draftNet)
	build := inner(d)
	threads := d.Hardware.Cores
	d.note("as goroutines")
	return func(m *Machine) {
		m.Golang(threads)
		build(m)
	}
}
