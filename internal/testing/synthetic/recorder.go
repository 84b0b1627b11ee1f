package synthetic

import (
	"slices"

	"whatif/internal/recording"
)

// recorder writes what a kernel would see.
type recorder struct {
	m       *Machine
	began   int64 // the machine's time at the recording's begin
	numbers map[*Task]int32
	threads []recording.Thread
	windows []recording.Window
	events  []recording.Event // of this window
}

// Numbers that processes and threads get from the kernel.
const (
	firstProcess = 500
	firstThread  = 1000
)

// open begins a window: with the state of all threads.
func (r *recorder) open() {
	m := r.m
	m.recorder = r
	r.events = nil
	for _, t := range m.tasks {
		if t.state == ended || t.stranger {
			continue
		}
		e := r.event(recording.State)
		e.Thread, e.Condition = r.number(t), condition(t)
		switch {
		case !t.goroutine:
			e.CPU = t.core.number
		case t.state == running:
			e.Condition = recording.Runnable
		}
		if t.state == waiting {
			e.Place, e.Object = t.place, t.object
		}
		r.add(e)
	}
	// Which thread runs a goroutine is said by an event of its own, before which the goroutine is runnable.
	for _, t := range m.tasks {
		if t.running != nil {
			r.runs(t, t.running)
		}
	}
	window := len(r.windows)
	for _, c := range m.cores {
		r.sampleLater(c, window)
	}
}

// shut ends a window.
func (r *recorder) shut(begin int64) {
	r.m.recorder = nil
	r.windows = append(r.windows, recording.Window{Begin: begin - r.began, End: r.m.now - r.began, Events: r.events})
}

func condition(t *Task) recording.Condition {
	return map[state]recording.Condition{
		waiting: recording.Waiting, runnable: recording.Runnable, running: recording.Running, ended: recording.Ended,
	}[t.state]
}

func (r *recorder) event(k recording.Kind) recording.Event {
	return recording.Event{
		Time: r.m.now - r.began, Kind: k, Thread: recording.No, Other: recording.No, Place: recording.No,
		Object: recording.No, Stack: recording.No, Point: recording.No, CPU: recording.No,
	}
}

func (r *recorder) add(e recording.Event) { r.events = append(r.events, e) }

// number is a thread's number in the recording.
func (r *recorder) number(t *Task) int32 {
	switch {
	case t == nil:
		return recording.Idle
	case t.stranger:
		return recording.Stranger
	}
	n, ok := r.numbers[t]
	if !ok {
		n = int32(len(r.threads))
		r.numbers[t] = n
		r.threads = append(r.threads, recording.Thread{
			ID: firstThread + int32(t.number), Process: firstProcess + t.process, Name: t.name,
			Program: r.m.tables.program, Goroutine: t.goroutine, Nice: t.nice, Allowed: slices.Clone(t.pinned),
		})
	}
	return n
}

func (r *recorder) switched(c *core, before, next *Task) {
	e := r.event(recording.Switch)
	e.Thread, e.Other, e.CPU = r.number(before), r.number(next), c.number
	if e.Thread == recording.Stranger && e.Other == recording.Stranger {
		return
	}
	e.Condition = recording.Runnable
	if e.Thread >= 0 {
		e.Condition = condition(before)
		if before.state == waiting {
			e.Place, e.Object = before.place, before.object
		}
	}
	r.add(e)
}

func (r *recorder) woke(by, t *Task, cause recording.Cause, at int32) {
	e := r.event(recording.Wake)
	e.Other, e.Cause, e.Class, e.CPU = r.number(t), cause, t.class, t.core.number
	if by != nil {
		e.Thread, e.Place, e.Object, e.CPU = r.number(by), at, t.object, by.core.number
	}
	r.add(e)
}

func (r *recorder) visit(t *Task, point int32, role recording.Role, key uint64) {
	if t.goroutine {
		t = t.on
	}
	e := r.event(recording.Visit)
	e.Thread, e.Point, e.Role, e.Key, e.CPU = r.number(t), point, role, key, t.core.number
	r.add(e)
}

func (r *recorder) forked(t, child *Task) {
	e := r.event(recording.Fork)
	e.Thread, e.Other, e.CPU = r.number(t), r.number(child), t.core.number
	r.add(e)
}

// runs: a thread begins to run a goroutine, or none.
func (r *recorder) runs(t, g *Task) {
	e := r.event(recording.Run)
	e.Thread, e.CPU = r.number(t), t.core.number
	if g != nil {
		e.Other = r.number(g)
	}
	r.add(e)
}

// parked: a goroutine waits.
func (r *recorder) parked(g *Task) {
	e := r.event(recording.Park)
	e.Thread, e.Place, e.Object, e.CPU = r.number(g), g.place, g.object, g.on.core.number
	r.add(e)
}

// ready: a goroutine need not wait any more. By is a goroutine, or nil; on is the thread that found it out.
func (r *recorder) ready(by, g *Task, cause recording.Cause, on *Task) {
	e := r.event(recording.Ready)
	e.Other, e.Cause, e.Class, e.CPU = r.number(g), cause, g.class, on.core.number
	if by != nil {
		e.Thread = r.number(by)
	}
	r.add(e)
}

// sampleLater takes samples of a core, at random distances, so that no rhythm of the program meets that of the samples.
func (r *recorder) sampleLater(c *core, window int) {
	m := r.m
	m.samples++
	gap := float64(m.hardware.Period) * (0.5 + unit(mix(m.seed, m.samples, 4711)))
	m.after(int64(gap), func() {
		if m.recorder == nil || len(r.windows) != window {
			return
		}
		if t := c.task; t != nil && !t.stranger {
			e := r.event(recording.Sample)
			e.Thread, e.CPU, e.Stack = r.number(t), c.number, t.stack
			if m.now-c.since < c.cost {
				e.Stack = m.tables.stack(frameKernel, "sched_yield", t.name, 0)
			}
			r.add(e)
		}
		r.sampleLater(c, window)
	})
}

// finish makes the recording of all windows.
func (r *recorder) finish(length int64) *recording.Recording {
	m := r.m
	objects := slices.Clone(m.objects)
	for i := range objects {
		if objects[i].Process != recording.No {
			objects[i].Process += firstProcess
		}
	}
	return &recording.Recording{
		Cores: m.hardware.Cores, Period: m.hardware.Period, Began: 1_700_000_000_000_000_000, Length: length,
		Windows: r.windows, Threads: r.threads, Points: m.points, Objects: objects,
		Places: m.tables.places, Stacks: m.tables.stacks, Frames: m.tables.frames,
	}
}
