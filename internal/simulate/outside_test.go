package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// asking is how requests come to a server of one thread.
type asking struct {
	clients int     // that take turns: each asks again a time after its answer
	think   float64 // ms, that time; with a pace: the time between two requests
	scatter float64 // of it, as a part
	pace    bool    // requests come by the clock
}

// aServer answers n requests, and visits after each. It returns when the last one is answered. With a tape, it records.
func aServer(service []float64, a asking, t *tape) float64 {
	r := rand.New(rand.NewPCG(5, 5)) // the same outside, whatever the server does
	arrives, done := make([]float64, len(service)), make([]float64, len(service))
	due, free := 0.5, 0.0
	for k, takes := range service {
		wait := a.think * (1 + a.scatter*(r.Float64()-0.5))
		switch {
		case a.pace:
			arrives[k] = a.think*float64(k+1) + wait - a.think
		case k < a.clients:
			arrives[k] = wait * float64(k+1) / float64(a.clients)
		default:
			arrives[k] = done[k-a.clients] + wait
		}
		begin := max(free, arrives[k])
		done[k] = begin + takes
		if t != nil {
			if begin > free {
				t.pause(free, 0, 0, 0, 1)
				t.asked(begin, 0, 0)
			}
			t.sampled(begin, done[k], 0, 0, &due)
			t.visit(done[k], 0, 0)
			done[k] += 1e-6
		}
		free = done[k]
	}
	return free
}

// asked lets somebody outside wake a thread.
func (t *tape) asked(ms float64, cpu, thread int) {
	e := blank(recording.Wake, recording.Stranger, thread)
	e.Object, e.Class, e.Cause = 1, recording.Net, recording.ByStranger
	t.add(ms, e)
	t.swap(ms, cpu, idle, thread, recording.Running, recording.No, recording.No)
}

func TestClientsOutside(t *testing.T) {
	const n = 4000
	for _, a := range []asking{
		{clients: 1, think: 0.4, scatter: 0.5},
		{clients: 2, think: 1.5, scatter: 0.1},
		{clients: 4, think: 4, scatter: 0.05},
		{clients: 7, think: 7, scatter: 0.02},
		{think: 1.2, scatter: 0.1, pace: true},
		{think: 1, scatter: 0.3, pace: true},
	} {
		r := rand.New(rand.NewPCG(uint64(a.clients), 3))
		service := drawn(r, n, 0.8, false)
		tape := newTape(1, 1, 1, 1)
		tape.state(0, 0, recording.Running, recording.No)
		end := aServer(service, a, tape)
		m := tape.machine(t, end)
		faithful(t, m)
		for _, by := range []float64{-0.2, 0.25, 0.5, 0.75} {
			truth := 100 * (1 - aServer(scaled(service, by), a, nil)/end)
			near(t, m, tape.unit(0), by, truth, 3, "%+v", a)
		}
		if m.Flooded() {
			t.Errorf("%+v: the server waits for requests, and is taken not to", a)
		}
	}
}

// TestFlooded: a server that never waits may have to, if it were faster.
func TestFlooded(t *testing.T) {
	for _, in := range []string{"epoll_wait", "compute"} {
		tape := newTape(1, 1, 1, 2)
		tape.Frames[1].Function = in
		tape.state(0, 0, recording.Running, recording.No)
		for k := range 200 {
			at := float64(k)
			tape.work(at, at+0.8, 0, 0)
			tape.work(at+0.8, at+1, 0, 1)
			tape.visit(at+1, 0, 0)
		}
		m := tape.machine(t, 200)
		faithful(t, m)
		c := Change{Faster: []Faster{{Unit: tape.unit(0), By: 0.5}}}
		sooner := gain(m, c, 0)
		c.Held = true
		held := gain(m, c, 0)
		if serves := in == "epoll_wait"; m.Flooded() != serves || serves && held > 0.5 || !serves && held != sooner {
			t.Errorf("%s: flooded %t, gain %.1f%%, with held requests %.1f%%", in, m.Flooded(), sooner, held)
		}
		if sooner < 35 || sooner > 45 {
			t.Errorf("%s: gain %.1f%%, want 40%%", in, sooner)
		}
	}
}

// TestManySources: a hostile recording may have any number of sources. Their work, and what they write, has an end.
func TestManySources(t *testing.T) {
	tape := newTape(1, 1, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	r := rand.New(rand.NewPCG(1, 9))
	m := tape.machine(t, aServer(drawn(r, 200, 1, false), asking{clients: 2, think: 3, scatter: 0.1}, tape))
	e := &m.windows[0].entities[0]
	s := source{e.thread, recording.No}
	for _, c := range []struct {
		looks, writes int
		want          bool
	}{{mostLooks, 1000, true}, {len(e.actions) - 1, 1000, false}, {mostLooks, -1, false}} {
		before := len(m.waits)
		m.looks, m.writes = c.looks, c.writes
		for range 3 {
			m.writeRequestsOf(s, 0, 0, 0, func([]int32) (wait, bool) { return wait{ends: atMoment}, true })
		}
		if wrote := len(m.waits) - before; wrote > 0 != c.want || wrote > 3*200 || c.want && m.writes != 1000-wrote {
			t.Errorf("%+v: %d waits were written, %d are left", c, wrote, m.writes)
		}
	}
}

// TestClients: the number of clients that take turns shows in the recording.
func TestClients(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 5, 9} {
		r := rand.New(rand.NewPCG(uint64(clients), 9))
		tape := newTape(1, 1, 1, 1)
		tape.state(0, 0, recording.Running, recording.No)
		a := asking{clients: clients, think: 1.3 * float64(clients), scatter: 0.02}
		m := tape.machine(t, aServer(drawn(r, 2000, 1, false), a, tape))
		var found []string
		for i := range m.waits {
			w := &m.waits[i]
			if name := fmt.Sprint(w.ends == answered); !slices.Contains(found, name) && w.began > 1e8 {
				found = append(found, name)
			}
		}
		if want := fmt.Sprint(clients > 1); len(found) != 1 || found[0] != want {
			t.Errorf("%d clients: answered %v, want %s", clients, found, want)
		}
	}
}

// TestStandstill: a server is asked by the clock, and the whole machine stands still once.
func TestStandstill(t *testing.T) {
	const n = 2000
	service := drawn(rand.New(rand.NewPCG(1, 3)), n, 0.8, false)
	tape := newTape(1, 1, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	end := aServer(service, asking{think: 1.2, scatter: 0.1, pace: true}, tape)
	for i := range tape.events {
		if e := &tape.events[i]; e.Time > int64(end/2*1e6) {
			e.Time += 30e6
		}
	}
	m := tape.machine(t, end+30)
	faithful(t, m)
	near(t, m, tape.unit(0), 0.5, 0, 3, "30 ms")
}
