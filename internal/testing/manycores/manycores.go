// Package manycores computes what a tick of whatif's experiments costs on machines that nobody had at hand: cores that
// meet at a tick write to the same cache lines, and a line is with one core at a time. docs/design/0039-many-cores.md
// has its table, and what follows from it.
//
// The model is a queue. Each cache line serves one access after the other. A core that writes a line, or reads it after
// another core has written it, waits for its turn and then for the transfer; a core that reads what it has read before
// waits for nothing. There is no network between sockets in it, which would make transfers slower when there are many.
package manycores

import (
	"container/heap"
	"math/rand/v2"
)

// Machine is what a tick depends on. Times are in nanoseconds.
type Machine struct {
	Cores    int
	Transfer float64 // of a cache line from one core to another
	Jitter   float64 // mean of the exponential distribution of how late a core's timer is
	Look     float64 // between two looks of a core that waits for the others
	Longest  float64 // that a core waits
	// Earning is how many cores run the selected code, and add to G before they arrive.
	Earning int
}

// Tick is what one tick does, on average.
type Tick struct {
	Waited float64 // ns that a core waits, from its timer on
	Missed float64 // share of the cores that leave before all have come
}

// line is a cache line: when it is free.
type line struct{ free float64 }

// take is when an access at a time is over.
func (l *line) take(at, transfer float64) float64 {
	l.free = max(l.free, at) + transfer
	return l.free
}

// step is what a core does next.
type step int

const (
	earns   step = iota // it adds to G
	arrives             // it adds itself to those that have come
	counted
	looks
	looked
)

type event struct {
	at   float64
	core int
	step step
}

type queue []event

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// Tick simulates some ticks.
func (m *Machine) Tick(ticks int, random *rand.Rand) (mean Tick) {
	for range ticks {
		t := m.one(random)
		mean.Waited += t.Waited / float64(ticks)
		mean.Missed += t.Missed / float64(ticks)
	}
	return mean
}

func (m *Machine) one(random *rand.Rand) (t Tick) {
	var q queue
	began, arrived, seen := make([]float64, m.Cores), make([]float64, m.Cores), make([]int, m.Cores)
	for core := range m.Cores {
		began[core], seen[core] = random.ExpFloat64()*m.Jitter, -1
		first := arrives
		if core < m.Earning {
			first = earns
		}
		q = append(q, event{began[core], core, first})
	}
	heap.Init(&q)
	var global, common line
	come := 0
	for q.Len() > 0 {
		e := heap.Pop(&q).(event)
		switch e.step {
		case earns:
			e.at, e.step = global.take(e.at, m.Transfer), arrives
		case arrives:
			arrived[e.core] = e.at
			e.at, e.step = common.take(e.at, m.Transfer), counted
		case counted:
			come++
			e.step = looks
		case looks:
			if seen[e.core] != come { // another core has written the line since
				e.at = common.take(e.at, m.Transfer)
			}
			e.step = looked
		case looked:
			seen[e.core] = come
			if come < m.Cores && e.at-arrived[e.core] < m.Longest {
				e.at, e.step = e.at+m.Look, looks
				break
			}
			t.Waited += (e.at - began[e.core]) / float64(m.Cores)
			if come < m.Cores {
				t.Missed += 1 / float64(m.Cores)
			}
			continue
		}
		heap.Push(&q, e)
	}
	return t
}
