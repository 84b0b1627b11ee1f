package synthetic

import (
	"fmt"
	"iter"
	"math"

	"whatif/internal/recording"
)

type state uint8

const (
	waiting state = iota
	runnable
	running
	ended
)

// Task is a thread of a program. Its script calls the methods below; each of them returns when the thread, in the
// machine's time, has done it.
type Task struct {
	m        *Machine
	number   int
	key      uint64 // of its draws
	name     string // of its function
	process  int32
	nice     int8
	pinned   []int16
	stranger bool // not of the target

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool

	state   state
	core    *core // where it runs, waits for running, or ran last
	virtual float64
	weight  float64
	need    int64 // ns of the step that it still has to run
	kind    int   // of that step; none: what no change makes faster
	stack   int32
	since   int64 // when the state began
	class   recording.Class
	place   int32
	object  int32
	wakes   uint64
	nothing int // steps in a row that took no time

	steps   map[int]uint64 // how often it has done each kind of step
	forks   uint64
	joiners []*waiter
	self    int32 // the object at which others wait for its end

	goroutine bool
	on        *Task // the thread that runs this goroutine; nil: none
	running   *Task // the goroutine that this thread runs; nil: none
	started   int64 // when the goroutine began to run
}

const none = -1

// mostNothing is how many steps without any time a script may do in a row.
const mostNothing = 100_000

// Numbers of steps that are not computing. Kinds of code are 0 and more.
const (
	stepSleep = -1 - iota
	stepDisk
	stepNet
	stepCount
)

// abandoned is the panic that ends a script when its machine is closed.
type abandoned struct{}

// How says what is special about a thread.
type How struct {
	Process int32   // its process; 0 is the first
	Nice    int8    // as for the nice command
	Pinned  []int16 // the cores that it may use; empty: all
}

// Thread adds a thread that exists from the beginning. In a program in Go it is a goroutine.
func (m *Machine) Thread(name string, how How, script func(*Task)) *Task {
	if m.golang != nil {
		return m.golang.goroutine(name, how, script)
	}
	return m.thread(name, how, script)
}

func (m *Machine) thread(name string, how How, script func(*Task)) *Task {
	t := m.task(name, how, mix(m.seed, hashed(name), uint64(len(m.tasks))), script)
	t.core = m.cores[t.number%len(m.cores)]
	if len(t.pinned) > 0 {
		t.core = m.cores[t.pinned[0]]
	}
	// Threads of a real program do not begin in the same nanosecond.
	m.after(int64(unit(t.key)*50_000), func() { m.wakeUp(t) })
	return t
}

// Stranger adds a thread that is not of the target. It takes cores now and then.
func (m *Machine) Stranger(every, takes Distribution) {
	t := m.thread("stranger", How{Process: 1000}, func(t *Task) {
		for {
			t.Sleep(every)
			t.run(0, none, takes.at(unit(t.draw(stepCount))))
		}
	})
	t.stranger = true
}

func (m *Machine) task(name string, how How, key uint64, script func(*Task)) *Task {
	t := &Task{
		m: m, number: len(m.tasks), key: key, name: name, process: how.Process, nice: how.Nice, pinned: how.Pinned,
		weight: math.Pow(1.25, -float64(how.Nice)), kind: none, place: recording.No, object: recording.No,
		steps: map[int]uint64{}, self: recording.No, since: m.now,
	}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			e := recover()
			if _, ok := e.(abandoned); e != nil && !ok {
				panic(e)
			}
		}()
		t.yield = yield
		script(t)
		t.exit()
	})
	m.tasks = append(m.tasks, t)
	return t
}

// resume goes on with the script until it needs time.
func (t *Task) resume() {
	if _, ok := t.next(); !ok {
		t.state = ended
	}
}

func (t *Task) suspend() {
	if !t.yield(struct{}{}) {
		panic(abandoned{})
	}
}

func (t *Task) allowed(c *core) bool {
	if len(t.pinned) == 0 {
		return true
	}
	for _, n := range t.pinned {
		if n == c.number {
			return true
		}
	}
	return false
}

// run takes time on a core.
func (t *Task) run(stack int32, kind int, ns int64) {
	if ns <= 0 {
		if t.nothing++; t.nothing > mostNothing {
			panic("synthetic: " + t.name + " has a loop that takes no time")
		}
		return
	}
	t.nothing = 0
	if !t.goroutine { // the thread that runs it takes the time
		ns = less(ns, t.m.change.Computes)
	}
	t.stack, t.kind, t.need = stack, kind, ns
	t.suspend()
	t.kind = none
}

// library is the time of a library call, system that of a call of the kernel.
func (t *Task) library(name string, ns int64) {
	if t.goroutine {
		name = goName(name)
	}
	t.run(t.m.tables.stack(frameLibrary, name, t.name, 0), none, ns)
}

func (t *Task) system(name string, ns int64) {
	if t.goroutine { // it parks, or makes another one ready, without a call of the kernel
		t.library(name, ns/4)
		return
	}
	t.run(t.m.tables.stack(frameKernel, name, t.name, 0), none, ns)
}

// draw is a random number that depends on the thread, the step, and how often the thread has done it.
func (t *Task) draw(step int) uint64 {
	t.steps[step]++
	return mix(t.key, uint64(int64(step)), t.steps[step])
}

// Compute runs code of a kind.
func (t *Task) Compute(kind int, d Distribution) {
	t.compute(kind, d, t.draw(kind))
}

// ComputeJob runs code of a kind, for a job. The job decides how long it takes, not the thread that does it.
func (t *Task) ComputeJob(kind int, d Distribution, job uint64) {
	t.compute(kind, d, mix(t.m.seed, uint64(kind), job))
}

func (t *Task) compute(kind int, d Distribution, h uint64) {
	stack := t.m.tables.stack(frameProgram, kindName(kind), t.name, 0)
	t.run(stack, kind, t.m.change.scale(kind, d.at(unit(h))))
}

// kindName is the name of the function that is the code of a kind.
func kindName(kind int) string {
	names := []string{"parse", "transform", "encode", "lookup", "merge", "render"}
	if kind < len(names) {
		return names[kind]
	}
	return fmt.Sprintf("work_%d", kind)
}

// Visit visits a progress point. Request visits one at the begin or the end of a request.
func (t *Task) Visit(point int32) { t.Request(point, recording.Whole, 0) }

// Request visits a point that has latencies.
func (t *Task) Request(point int32, role recording.Role, key uint64) {
	t.m.visit(t, point, role, key)
	t.library("point", costCall)
}

// Sleep waits for a time.
func (t *Task) Sleep(d Distribution) {
	t.SleepFor(d.at(unit(t.draw(stepSleep))))
}

// SleepUntil waits until a time on the clock, as periodic threads do. If code is faster, such a thread waits longer.
func (t *Task) SleepUntil(at int64) { t.SleepFor(at - t.m.now) }

// SleepFor waits for some ns.
func (t *Task) SleepFor(ns int64) {
	t.system("clock_nanosleep", costSystem)
	ns = less(ns, t.m.change.Sleeps)
	if ns <= 0 {
		return
	}
	t.m.after(ns, func() { t.m.wake(nil, t, recording.ByTimer, recording.No) })
	t.block("clock_nanosleep", recording.No, recording.Sleep)
}

// Now is the machine's time.
func (t *Task) Now() int64 { return t.m.now }

// block waits until something wakes the thread.
func (t *Task) block(call string, object int32, class recording.Class) {
	t.state, t.since = waiting, t.m.now
	t.place, t.object, t.class = t.at(call, object), object, class
	if t.goroutine && t.m.recorder != nil {
		t.m.recorder.parked(t)
	}
	t.suspend()
}

// at is the place of a call of the library in this thread. The line tells calls for different objects apart.
func (t *Task) at(call string, object int32) int32 {
	if t.goroutine {
		call = goName(call)
	}
	stack := t.m.tables.stack(frameLibrary, call, t.name, object+1)
	return t.m.tables.place(recording.Place{
		Stack:   stack,
		Address: 0x7f1000000000 + hashed(call)%0x100000,
		Pointer: 0x7ffc00000000 + uint64(t.number)<<20 - hashed(call)%4096&^15 - uint64(object+1)*256,
	})
}

// wake ends the wait of a thread. By is the thread that does it, or nil; at is where in its code.
func (m *Machine) wake(by, t *Task, cause recording.Cause, at int32) {
	if t.state != waiting {
		panic("synthetic: woke " + t.name + ", which does not wait")
	}
	if t.goroutine {
		m.golang.ready(by, t, cause)
		return
	}
	if m.recorder != nil && !t.stranger {
		m.recorder.woke(by, t, cause, at)
	}
	m.waited(t, t.class)
	t.place, t.object = recording.No, recording.No
	m.wakeUp(t)
}

// waited adds up a wait that is over.
func (m *Machine) waited(t *Task, class recording.Class) {
	if m.watch != nil && !t.stranger {
		m.watch.same.Waited[class] += m.now - t.since
	}
}

// waiter is a thread that waits at an object, or is about to.
type waiter struct {
	task     *Task
	released bool
	blocked  bool
	expired  bool // the clock has ended the wait
}

// await waits until release is called, unless that has happened.
func (t *Task) await(w *waiter, call string, object int32, class recording.Class) {
	if w.released {
		return
	}
	w.blocked = true
	t.block(call, object, class)
}

// release lets a waiter go on. It need not be woken if it has not gone to sleep.
func (t *Task) release(w *waiter, call string, object int32) {
	w.released = true
	if !w.blocked {
		return
	}
	t.system(call, costWake)
	t.m.wake(t, w.task, recording.ByThread, t.at(call, object))
}

// Fork makes a thread, or a process.
func (t *Task) Fork(name string, how How, script func(*Task)) *Task {
	m := t.m
	t.system("clone", costFork)
	t.forks++
	child := m.task(name, how, mix(t.key, t.forks, 99), script)
	kind := recording.Futex
	if child.process != t.process {
		kind = recording.Process
	}
	child.self = m.object(kind, t.process)
	child.core, child.virtual = t.core, t.core.floor
	if m.recorder != nil {
		m.recorder.forked(t, child)
	}
	m.wakeUp(child)
	return child
}

// Join waits for the end of a thread or process.
func (t *Task) Join(child *Task) {
	call, class := "pthread_join", recording.Lock
	if child.process != t.process {
		call, class = "wait4", recording.Child
	}
	t.library(call, costCall)
	if child.state == ended {
		return
	}
	t.system(call, costSystem)
	if child.state == ended {
		return
	}
	w := &waiter{task: t}
	child.joiners = append(child.joiners, w)
	t.await(w, call, child.self, class)
}

func (t *Task) exit() {
	t.system("exit", costExit)
	for _, w := range t.joiners {
		t.release(w, "exit", t.self)
	}
}
