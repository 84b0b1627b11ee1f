package recording

import (
	"fmt"
	"math/rand/v2"
)

// world makes a recording that is like that of a server: threads of a pool compute for a while, wake one another, wait
// for locks, disks and the clock, and visit a point.
type world struct {
	*rand.Rand
	r       *Recording
	events  []Event
	now     int64
	cores   []int32 // the thread that each runs
	until   []int64 // by core, the end of what it does
	sampled []int64 // by core, the next sample
	queue   []int32
	lives   []condition
	key     uint64
}

type condition struct {
	Condition
	wakes int64 // when the clock or a device wakes it; 0: a thread does
	cause Cause
	class Class
}

const poolCores, poolThreads = 4, 24

// synthesize gives so many events.
func synthesize(seed uint64, events int) *Recording {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), r: pool(), cores: make([]int32, poolCores),
		until: make([]int64, poolCores), sampled: make([]int64, poolCores), lives: make([]condition, poolThreads)}
	for c := range w.cores {
		w.cores[c], w.until[c], w.sampled[c] = Idle, int64(c), int64(w.IntN(1e6))
	}
	for t := range w.lives {
		w.event(Event{Kind: State, Thread: int32(t), Condition: Runnable, CPU: No})
		w.lives[t].Condition = Runnable
		w.queue = append(w.queue, int32(t))
	}
	for len(w.events) < events {
		w.step()
	}
	w.r.Length = w.now + 1
	w.r.Windows = []Window{{0, w.now, w.events}}
	return w.r
}

// pool is the recording's tables.
func pool() *Recording {
	r := &Recording{Cores: poolCores, Period: 1e6, Began: 1.7e18, Points: []Point{{"request", true}}}
	for t := range poolThreads {
		r.Threads = append(r.Threads, Thread{ID: int32(4000 + 3*t), Process: 4000, Name: fmt.Sprint("worker-", t),
			Program: "/usr/sbin/server"})
		r.Objects = append(r.Objects, Object{Futex, 4000, 0x7f12_3400_1000 + 64*uint64(t)})
	}
	for f := range 300 {
		r.Frames = append(r.Frames, Frame{Function: fmt.Sprint("handle_request_", f), Line: int32(20 + 7*f),
			File: fmt.Sprintf("/src/server/part_%d.c", f/10), Binary: "/usr/sbin/server", Kernel: f%5 == 0})
	}
	for s := range 500 {
		var stack Stack
		for d := range 12 {
			stack = append(stack, int32((s*(d+1)+d)%300))
		}
		r.Stacks = append(r.Stacks, stack)
	}
	for p := range 60 {
		r.Places = append(r.Places, Place{int32(p * 7), 0x5581_0000_0000 + 100*uint64(p), 0x7ffe_0000_0000 + 4096*uint64(p)})
	}
	return r
}

func (w *world) event(e Event) {
	e.Time = w.now
	w.events = append(w.events, e)
}

func (w *world) some(mean float64) int64 { return 1 + int64(w.ExpFloat64()*mean) }

// step does what is next.
func (w *world) step() {
	core, sample, next := -1, -1, int64(1<<61)
	for c := range w.cores {
		if w.until[c] < next {
			core, sample, next = c, -1, w.until[c]
		}
		if w.cores[c] >= 0 && w.sampled[c] < next {
			core, sample, next = -1, c, w.sampled[c]
		}
	}
	sleeper := -1
	for t, l := range w.lives {
		if l.Condition == Waiting && l.wakes != 0 && l.wakes < next {
			core, sample, sleeper, next = -1, -1, t, l.wakes
		}
	}
	w.now = max(next, w.now)
	switch {
	case sleeper >= 0:
		l := &w.lives[sleeper]
		w.event(Event{Kind: Wake, Thread: No, Other: int32(sleeper), Place: No, Object: No, Cause: l.cause, Class: l.class,
			CPU: int16(w.IntN(poolCores))})
		w.wake(int32(sleeper))
	case sample >= 0:
		w.event(Event{Kind: Sample, Thread: w.cores[sample], CPU: int16(sample),
			Stack: int32(float64(len(w.r.Stacks)) * w.Float64() * w.Float64())})
		w.sampled[sample] = w.now + w.some(1e6)
	case core >= 0:
		w.act(core)
	}
	for c := range w.cores { // idle cores take what waits for one
		if w.cores[c] == Idle && w.until[c] == 1<<60 && len(w.queue) > 0 {
			w.until[c] = w.now + w.some(4000)
		}
	}
}

func (w *world) wake(t int32) {
	w.lives[t] = condition{Condition: Runnable}
	w.queue = append(w.queue, t)
}

// act has the thread of a core do something.
func (w *world) act(c int) {
	t := w.cores[c]
	if t == Idle {
		w.put(c, Event{Thread: Idle})
		return
	}
	w.until[c] = w.now + w.some(30e3)
	switch w.IntN(5) {
	case 0:
		w.key++
		w.event(Event{Kind: Visit, Thread: t, CPU: int16(c), Role: Role(1 + w.key%2), Key: w.key / 2})
	case 1, 2:
		other := int32(w.IntN(poolThreads))
		if w.lives[other].Condition == Waiting && w.lives[other].wakes == 0 {
			w.event(Event{Kind: Wake, Thread: t, Other: other, Place: t % 60, Object: other, Class: Lock, CPU: int16(c)})
			w.wake(other)
		}
	case 3:
		w.lives[t] = condition{Condition: Waiting}
		if t%2 == 0 || t == 1 {
			w.lives[t] = condition{Waiting, w.now + w.some(300e3), ByTimer + Cause(t%4/2), Sleep}
		}
		w.put(c, Event{Thread: t, Condition: Waiting, Place: 2*t + int32(w.IntN(3)), Object: t})
	case 4:
		w.lives[t].Condition = Runnable
		w.queue = append(w.queue, t)
		w.put(c, Event{Thread: t, Condition: Runnable, Place: No, Object: No})
	}
}

// put has a core run the next thread.
func (w *world) put(c int, e Event) {
	e.Kind, e.CPU, e.Other = Switch, int16(c), Idle
	w.until[c] = 1 << 60
	if len(w.queue) > 0 {
		e.Other, w.queue = w.queue[0], w.queue[1:]
		w.lives[e.Other].Condition = Running
		w.until[c] = w.now + w.some(30e3)
	}
	w.cores[c] = e.Other
	if e.Thread != e.Other {
		w.event(e)
	}
}
