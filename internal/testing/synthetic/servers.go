package synthetic

import "whatif/internal/recording"

// draftRequests: clients and a server, in processes of their own, with pipes or sockets between them.
func draftRequests(d *draft) func(*Machine) {
	clients, workers := d.between(1, 4), d.between(1, 3)
	ask, serve, reply := d.code(20e3, 400e3), d.code(50e3, 800e3), d.code(10e3, 200e3)
	socket, thinks := d.chance(0.5), d.chance(0.4)
	think := d.duration(100e3, 3e6)
	d.Waits.Sleeps = thinks
	d.round = float64(ask.Mean+serve.Mean+reply.Mean) / float64(min(clients, workers))
	d.note("%d clients: %v, %v after; %d workers: %v; sockets: %t", clients, ask, reply, workers, serve, socket)
	if thinks {
		d.round += float64(think.Mean) / float64(clients)
		d.note("clients sleep %s", think)
	}
	return func(m *Machine) {
		point, requests := m.Point("request", true), m.Pipe(64, socket)
		answers := make([]*Pipe, clients)
		for i := range clients {
			answers[i] = m.Pipe(64, socket)
			m.Thread(named("client", i), How{Process: 1}, func(t *Task) {
				for n := uint64(i); ; n += uint64(clients) {
					if thinks {
						t.Sleep(think)
					}
					t.do(ask)
					t.Request(point, recording.Begin, n)
					t.Send(requests, n)
					t.Receive(answers[i])
					t.Request(point, recording.End, n)
					t.do(reply)
				}
			})
		}
		for i := range workers {
			m.Thread(named("server", i), How{}, func(t *Task) {
				for {
					n := t.Receive(requests)
					t.doJob(serve, n)
					t.Send(answers[n%uint64(clients)], n)
				}
			})
		}
	}
}

// draftBroadcast: a leader starts rounds with a broadcast; the last worker that is ready signals the leader.
func draftBroadcast(d *draft) func(*Machine) {
	n := d.between(2, 5)
	if d.chance(0.6) {
		d.cores(n)
	}
	lead, work, inside := d.code(50e3, 1e6), d.code(200e3, 2e6), d.code(2e3, 50e3)
	fair := d.chance(0.2)
	d.round = float64(lead.Mean + work.Mean*int64(n)/int64(min(n, d.Hardware.Cores)))
	d.note("leader: %v; %d workers: %v, %v with the lock", lead, n, work, inside)
	return func(m *Machine) {
		point, x, start, finish := m.Point("round", false), m.Mutex(fair), m.Condition(), m.Condition()
		round, ready := 0, 0
		m.Thread("leader", How{}, func(t *Task) {
			for {
				t.do(lead)
				t.Lock(x)
				round++
				ready = 0
				t.Broadcast(start)
				for ready < n {
					t.WaitCondition(finish, x)
				}
				t.Unlock(x)
				t.Visit(point)
			}
		})
		for i := range n {
			m.Thread(named("worker", i), How{}, func(t *Task) {
				for seen := 0; ; {
					t.Lock(x)
					for round == seen {
						t.WaitCondition(start, x)
					}
					seen = round
					t.Unlock(x)
					t.do(work)
					t.Lock(x)
					t.do(inside)
					if ready++; ready == n {
						t.Signal(finish)
					}
					t.Unlock(x)
				}
			})
		}
	}
}

// draftSleep: threads that compute and sleep, beside one that only computes.
func draftSleep(d *draft) func(*Machine) {
	n := d.between(1, 5)
	work, sleep := d.code(50e3, 1e6), d.duration(200e3, 4e6)
	busy, rest := d.code(100e3, 1e6), d.code(30e3, 300e3)
	beside := d.chance(0.6)
	d.Waits.Sleeps = true
	d.round = float64(work.Mean+sleep.Mean) / float64(n)
	d.note("%d threads: %v, then %s; beside %v, %v: %t", n, work, sleep, busy, rest, beside)
	return func(m *Machine) {
		point := m.Point("turn", false)
		for i := range n {
			m.Thread(named("turns", i), How{}, func(t *Task) {
				for {
					t.do(work)
					t.Sleep(sleep)
					t.Visit(point)
				}
			})
		}
		if beside {
			other := m.Point("block", false)
			m.Thread("busy", How{}, func(t *Task) {
				for {
					t.do(busy)
					t.do(rest)
					t.Visit(other)
				}
			})
		}
	}
}

// draftPeriodic: requests that come with the clock, and workers that answer them: a faster program answers sooner, but
// not more.
func draftPeriodic(d *draft) func(*Machine) {
	n := d.between(1, 3)
	accept, work := d.code(5e3, 40e3), d.code(100e3, 1e6)
	load := 0.3 + 0.6*d.Float64()
	gap := int64(float64(work.Mean+accept.Mean) / float64(min(n, d.Hardware.Cores)) / load)
	d.round = float64(gap)
	d.note("%v every %s, then %d workers with %v: load %.2f", accept, short(gap), n, work, load)
	return func(m *Machine) {
		point, q := m.Point("answer", true), m.Queue(1000, false, false)
		m.Thread("clock", How{}, func(t *Task) {
			for job := uint64(1); ; job++ {
				t.SleepUntil(int64(job) * gap)
				t.do(accept)
				t.Request(point, recording.Begin, job)
				t.Put(q, job)
			}
		})
		for i := range n {
			m.Thread(named("worker", i), How{}, func(t *Task) {
				for {
					job := t.Take(q)
					t.doJob(work, job)
					t.Request(point, recording.End, job)
				}
			})
		}
	}
}

// draftCommit: threads that compute, then commit to a disk in groups.
func draftCommit(d *draft) func(*Machine) {
	n := d.between(2, 6)
	work, write := d.code(50e3, 1e6), d.duration(200e3, 2e6)
	fair := d.chance(0.2)
	d.Waits.Disks = true
	d.round = float64(work.Mean+write.Mean) / float64(n) * 1.5
	d.note("%d threads: %v, commit %s", n, work, write)
	return func(m *Machine) {
		point, group := m.Point("commit", false), m.Commits(m.Device(1), fair)
		for i := range n {
			m.Thread(named("writer", i), How{}, func(t *Task) {
				for {
					t.do(work)
					t.Commit(group, write)
					t.Visit(point)
				}
			})
		}
	}
}

// draftCrowd: more threads than cores.
func draftCrowd(d *draft) func(*Machine) {
	d.Hardware.Cores = min(d.Hardware.Cores, 4)
	n := d.Hardware.Cores + d.between(1, 3*d.Hardware.Cores)
	fast, slow, rest := d.code(100e3, 2e6), d.code(100e3, 2e6), d.code(50e3, 1e6)
	visitors, sleeps := d.between(1, n), d.chance(0.4)
	sleep := d.duration(100e3, 2e6)
	d.Waits.Sleeps = sleeps
	d.round = float64(fast.Mean+rest.Mean) * float64(n) / float64(d.Hardware.Cores*visitors)
	d.note("%d threads: %v or %v, %v; %d visit", n, fast, slow, rest, visitors)
	if sleeps {
		d.note("every third sleeps %s", sleep)
	}
	return func(m *Machine) {
		point := m.Point("unit", false)
		for i := range n {
			m.Thread(named("crowd", i), How{}, func(t *Task) {
				for {
					t.do([]code{fast, slow}[i%2])
					t.do(rest)
					if sleeps && i%3 == 0 {
						t.Sleep(sleep)
					}
					if i < visitors {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftNice: threads of different priority that want the same cores.
func draftNice(d *draft) func(*Machine) {
	d.Hardware.Cores = pick(d, 1, 2, 2)
	n := d.Hardware.Cores + d.between(1, 3)
	mine, rest := d.codes(n, 100e3, 1e6), d.code(50e3, 500e3)
	var nice []int8
	for range n {
		nice = append(nice, pick[int8](d, 0, 0, 5, 10, -5))
	}
	visitors := d.between(1, n)
	d.round = float64(mine[0].Mean+rest.Mean) * float64(n) / float64(d.Hardware.Cores)
	d.note("%d threads: %v, %v; nice %d; %d visit", n, mine, rest, nice, visitors)
	return func(m *Machine) {
		point := m.Point("unit", false)
		for i := range n {
			m.Thread(named("nice", i), How{Nice: nice[i]}, func(t *Task) {
				for {
					t.do(mine[i])
					t.do(rest)
					if i < visitors {
						t.Visit(point)
					}
				}
			})
		}
	}
}

// draftDisk: threads that read from a disk and compute.
func draftDisk(d *draft) func(*Machine) {
	n := d.between(1, 6)
	work, after, read := d.code(50e3, 1e6), d.code(20e3, 400e3), d.duration(80e3, 2e6)
	channels := pick(d, 1, 2, 16, 16)
	d.Waits.Disks = true
	d.round = float64(work.Mean+read.Mean+after.Mean) / float64(n)
	d.note("%d threads: %v, %s, %v; %d channels", n, work, read, after, channels)
	return func(m *Machine) {
		point, disk := m.Point("block", false), m.Device(channels)
		for i := range n {
			m.Thread(named("reader", i), How{}, func(t *Task) {
				for {
					t.do(work)
					t.Read(disk, read)
					t.do(after)
					t.Visit(point)
				}
			})
		}
	}
}

// draftNet: threads that ask something outside of the target, with a lock for what they get.
func draftNet(d *draft) func(*Machine) {
	n := d.between(1, 6)
	work, store, answer := d.code(50e3, 1e6), d.code(10e3, 200e3), d.duration(100e3, 3e6)
	near := d.chance(0.5)
	d.Waits.Nets = true
	d.round = float64(work.Mean+answer.Mean+store.Mean) / float64(n)
	d.note("%d threads: %v, %s (near: %t), %v with a lock", n, work, answer, near, store)
	return func(m *Machine) {
		point, x := m.Point("page", true), m.Mutex(false)
		for i := range n {
			peer := m.Peer(near)
			m.Thread(named("fetch", i), How{}, func(t *Task) {
				for job := uint64(i); ; job += uint64(n) {
					t.Request(point, recording.Begin, job)
					t.do(work)
					t.Ask(peer, answer)
					t.Lock(x)
					t.do(store)
					t.Unlock(x)
					t.Request(point, recording.End, job)
				}
			})
		}
	}
}

// draftBackground: a program of another family, and threads beside it that take cores from it.
func draftBackground(d *draft) func(*Machine) {
	inner := pick(d, draftBarrier, draftLock, draftPipeline, draftPool, draftForkJoin, draftRequests, draftCommit)
	build := inner(d)
	n := d.between(1, 2)
	work, rest, sleep := d.code(100e3, 3e6), d.code(30e3, 300e3), d.duration(200e3, 5e6)
	sleeps := d.chance(0.6)
	nice := pick[int8](d, 0, 0, 10)
	d.Waits.Sleeps = d.Waits.Sleeps || sleeps
	d.round *= 1.5
	d.note("beside %d threads, nice %d: %v, %v, sleep %s: %t", n, nice, work, rest, sleep, sleeps)
	return func(m *Machine) {
		build(m)
		for i := range n {
			m.Thread(named("background", i), How{Nice: nice}, func(t *Task) {
				for {
					t.do(work)
					t.do(rest)
					if sleeps {
						t.Sleep(sleep)
					}
				}
			})
		}
	}
}
