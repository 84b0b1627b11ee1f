package synthetic

import (
	"fmt"

	"whatif/internal/recording"
)

func named(name string, i int) string { return fmt.Sprintf("%s_%d", name, i) }

// cores makes sure that there are at least n cores.
func (d *draft) cores(n int) { d.Hardware.Cores = max(d.Hardware.Cores, n) }

// draftIndependent: threads that have nothing to do with each other. All or one of them visit.
func draftIndependent(d *draft) func(*Machine) {
	n := d.between(1, 4)
	d.cores(n)
	mine, rest := d.codes(n, 100e3, 2e6), d.code(50e3, 1e6)
	all := d.chance(0.7)
	pinned := d.chance(0.2)
	d.Fixed = pinned
	d.round = float64(mine[0].Mean + rest.Mean)
	d.note("%d threads, %v, then %v; all visit: %t; pinned: %t", n, mine, rest, all, pinned)
	return func(m *Machine) {
		point := m.Point("done", false)
		for i := range n {
			how := How{}
			if pinned {
				how.Pinned = []int16{int16(i)}
			}
			m.Thread(named("worker", i), how, func(t *Task) {
				for {
					t.do(mine[i])
					t.do(rest)
					if all || i == 0 {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftBarrier: threads that meet after each round.
func draftBarrier(d *draft) func(*Machine) {
	n := d.between(2, 4)
	if d.chance(0.8) {
		d.cores(n)
	}
	mine := d.codes(n, 200e3, 3e6)
	visitor := d.IntN(n)
	early := d.chance(0.5)
	for _, c := range mine {
		d.round = max(d.round, float64(c.Mean))
	}
	d.note("%d threads, %v; thread %d visits, before the barrier: %t", n, mine, visitor, early)
	return func(m *Machine) {
		point, b := m.Point("round", false), m.Barrier(n)
		for i := range n {
			m.Thread(named("part", i), How{}, func(t *Task) {
				for {
					t.do(mine[i])
					if i == visitor && early {
						t.Visit(point)
					}
					t.Meet(b)
					if i == visitor && !early {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftRendezvous: two threads that wait for each other, with semaphores, after each round.
func draftRendezvous(d *draft) func(*Machine) {
	mine, serial := d.codes(2, 150e3, 2e6), d.code(50e3, 500e3)
	ahead := pick(d, 0, 0, 1, 3)
	d.round = float64(max(mine[0].Mean, mine[1].Mean) + serial.Mean)
	d.note("%v, %v of the first; may be ahead by %d rounds", mine, serial, ahead)
	return func(m *Machine) {
		point := m.Point("exchange", false)
		here := []*Semaphore{m.Semaphore(ahead), m.Semaphore(ahead)}
		for i := range 2 {
			m.Thread(named("side", i), How{}, func(t *Task) {
				for {
					t.do(mine[i])
					t.Post(here[i])
					t.Acquire(here[1-i])
					if i == 0 {
						t.do(serial)
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftLock: threads that need one lock for a part of their work.
func draftLock(d *draft) func(*Machine) {
	n := d.between(2, 5)
	fair := d.chance(0.3)
	outside, inside := d.code(50e3, 1e6), d.code(10e3, 500e3)
	locks := pick(d, 1, 1, 1, 3)
	d.round = max(float64(outside.Mean+inside.Mean)/float64(n), float64(inside.Mean)) * 3
	d.note("%d threads, %v without, %v with the lock; %d locks, fair: %t", n, outside, inside, locks, fair)
	return func(m *Machine) {
		point := m.Point("update", false)
		var all []*Mutex
		for range locks {
			all = append(all, m.Mutex(fair))
		}
		for i := range n {
			m.Thread(named("client", i), How{}, func(t *Task) {
				for {
					t.do(outside)
					x := all[t.draw(stepCount)%uint64(locks)]
					t.Lock(x)
					t.do(inside)
					t.Unlock(x)
					t.Visit(point)
				}
			})
		}
	}
}

// draftPipeline: stages with bounded queues between them, made of locks and condition variables, or of pipes.
func draftPipeline(d *draft) func(*Machine) {
	n := d.between(2, 4)
	stages := d.codes(n, 50e3, 1e6)
	size := pick(d, 1, 2, 4, 16, 64)
	pipes, fair, outside, first := d.chance(0.4), d.chance(0.2), d.chance(0.5), d.chance(0.15)
	for _, c := range stages {
		d.round = max(d.round, float64(c.Mean))
	}
	d.note("%v; queues of %d, pipes: %t, signals outside: %t; the first stage visits: %t",
		stages, size, pipes, outside, first)
	return func(m *Machine) {
		point := m.Point("item", false)
		var queues []channel
		for range n - 1 {
			queues = append(queues, m.channel(size, pipes, fair, outside))
		}
		for i := range n {
			m.Thread(named("stage", i), How{}, func(t *Task) {
				for item := uint64(0); ; item++ {
					if i > 0 {
						item = t.get(queues[i-1])
					}
					t.doJob(stages[i], item)
					if i < n-1 {
						t.put(queues[i], item)
					}
					if first && i == 0 || !first && i == n-1 {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// channel is a queue or a pipe.
type channel struct {
	queue *Queue
	pipe  *Pipe
}

func (m *Machine) channel(size int, pipe, fair, outside bool) channel {
	if pipe {
		return channel{pipe: m.Pipe(size, false)}
	}
	return channel{queue: m.Queue(size, fair, outside)}
}

func (t *Task) put(c channel, job uint64) {
	if c.pipe != nil {
		t.Send(c.pipe, job)
		return
	}
	t.Put(c.queue, job)
}

func (t *Task) get(c channel) uint64 {
	if c.pipe != nil {
		return t.Receive(c.pipe)
	}
	return t.Take(c.queue)
}

// draftPool: a producer, and workers that take its jobs from one queue. The latency is from putting a job to its end.
func draftPool(d *draft) func(*Machine) {
	n := d.between(2, 4)
	produce, work := d.code(20e3, 300e3), d.code(100e3, 1e6)
	size, pipes, fair := pick(d, 1, 2, 8, 32), d.chance(0.3), d.chance(0.2)
	d.round = max(float64(produce.Mean), float64(work.Mean)/float64(n)) * 1.5
	d.note("%v, %d workers with %v, queue of %d, pipe: %t", produce, n, work, size, pipes)
	return func(m *Machine) {
		point, q := m.Point("job", true), m.channel(size, pipes, fair, false)
		m.Thread("producer", How{}, func(t *Task) {
			for job := uint64(1); ; job++ {
				t.do(produce)
				t.Request(point, recording.Begin, job)
				t.put(q, job)
			}
		})
		for i := range n {
			m.Thread(named("worker", i), How{}, func(t *Task) {
				for {
					job := t.get(q)
					t.doJob(work, job)
					t.Request(point, recording.End, job)
				}
			})
		}
	}
}

// draftForkJoin: a serial part, then parts for threads that are made each time, or that meet at barriers.
func draftForkJoin(d *draft) func(*Machine) {
	n := d.between(2, 4)
	if d.chance(0.7) {
		d.cores(n)
	}
	serial, parts := d.code(100e3, 1.5e6), d.codes(n, 200e3, 2e6)
	new := d.chance(0.5)
	d.round = float64(serial.Mean + parts[0].Mean)
	d.note("%v, then %v; new threads: %t", serial, parts, new)
	return func(m *Machine) {
		point := m.Point("loop", false)
		if new {
			m.Thread("main", How{}, func(t *Task) {
				for {
					t.do(serial)
					var children []*Task
					for i := 1; i < n; i++ {
						child := t.Fork(named("part", i), How{}, func(t *Task) { t.do(parts[i]) })
						children = append(children, child)
					}
					t.do(parts[0])
					for _, c := range children {
						t.Join(c)
					}
					t.Visit(point)
				}
			})
			return
		}
		start, finish := m.Barrier(n), m.Barrier(n)
		for i := range n {
			m.Thread(named("team", i), How{}, func(t *Task) {
				for {
					if i == 0 {
						t.do(serial)
					}
					t.Meet(start)
					t.do(parts[i])
					t.Meet(finish)
					if i == 0 {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftProcesses: a shell that starts processes, some at once, and waits for them.
func draftProcesses(d *draft) func(*Machine) {
	n := d.between(1, 3)
	parse, load, work := d.code(50e3, 500e3), d.code(100e3, 1e6), d.code(200e3, 3e6)
	d.round = float64(parse.Mean + load.Mean + work.Mean)
	d.note("%v, then %d processes with %v, %v", parse, n, load, work)
	return func(m *Machine) {
		point := m.Point("command", false)
		m.Thread("shell", How{}, func(t *Task) {
			process := int32(0)
			for {
				t.do(parse)
				var children []*Task
				for range n {
					process++
					children = append(children, t.Fork("command", How{Process: process}, func(t *Task) {
						t.do(load)
						t.do(work)
					}))
				}
				for _, c := range children {
					t.Join(c)
				}
				t.Visit(point)
			}
		})
	}
}
