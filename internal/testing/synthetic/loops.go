package synthetic

import "whatif/internal/recording"

// draftEventLoop: clients, and a server with one thread that waits for all of them at once. Some requests go on to
// workers of the server.
func draftEventLoop(d *draft) func(*Machine) {
	clients, workers := d.between(2, 6), d.between(0, 2)
	ask, serve, heavy := d.code(30e3, 500e3), d.code(20e3, 300e3), d.code(100e3, 800e3)
	think := d.duration(100e3, 3e6)
	thinks := d.chance(0.5)
	d.Waits.Sleeps = thinks
	d.round = float64(max(serve.Mean, ask.Mean/int64(clients)))
	if workers > 0 {
		d.round = max(d.round, float64(heavy.Mean)/float64(workers))
	}
	if thinks {
		d.round = max(d.round, float64(think.Mean+ask.Mean)/float64(clients))
	}
	d.note("%d clients: %v, sleep %s: %t; %v; %d workers: %v", clients, ask, think, thinks, serve, workers, heavy)
	return func(m *Machine) {
		point := m.Point("request", true)
		requests, answers := make([]*Pipe, clients), make([]*Pipe, clients)
		for i := range clients {
			requests[i], answers[i] = m.Pipe(16, true), m.Pipe(16, true)
			m.Thread(named("client", i), How{Process: 1}, func(t *Task) {
				for n := uint64(i); ; n += uint64(clients) {
					if thinks {
						t.Sleep(think)
					}
					t.do(ask)
					t.Request(point, recording.Begin, n)
					t.Send(requests[i], n)
					t.Receive(answers[i])
					t.Request(point, recording.End, n)
				}
			})
		}
		poll, jobs := m.Poll(requests...), m.Queue(64, false, false)
		m.Thread("loop", How{}, func(t *Task) {
			for {
				i := t.Ready(poll)
				n := t.Receive(requests[i])
				t.doJob(serve, n)
				if workers > 0 && mix(n)%2 == 0 {
					t.Put(jobs, n)
					continue
				}
				t.Send(answers[i], n)
			}
		})
		for i := range workers {
			m.Thread(named("worker", i), How{}, func(t *Task) {
				for {
					n := t.Take(jobs)
					t.doJob(heavy, n)
					t.Send(answers[n%uint64(clients)], n)
				}
			})
		}
	}
}

// draftBatch: threads that leave something for a collector, which works when it has enough, or after a time.
func draftBatch(d *draft) func(*Machine) {
	n, enough := d.between(1, 4), d.between(2, 30)
	work, collect := d.code(100e3, 1e6), d.code(5e3, 60e3)
	most := d.duration(500e3, 10e6).Mean
	d.round = float64(work.Mean) / float64(n)
	d.note("%d threads: %v; a collector: %v each, when %d have come or after %s", n, work, collect, enough, short(most))
	return func(m *Machine) {
		point, x, full := m.Point("entry", false), m.Mutex(false), m.Condition()
		entries := 0
		for i := range n {
			m.Thread(named("source", i), How{}, func(t *Task) {
				for {
					t.do(work)
					t.Lock(x)
					if entries++; entries == enough {
						t.Signal(full)
					}
					t.Unlock(x)
					t.Visit(point)
				}
			})
		}
		m.Thread("collector", How{}, func(t *Task) {
			for {
				t.Lock(x)
				for expired := false; entries < enough && !expired; {
					expired = !t.WaitConditionFor(full, x, most)
				}
				taken := entries
				entries = 0
				t.Unlock(x)
				for range taken {
					t.do(collect)
				}
			}
		})
	}
}
