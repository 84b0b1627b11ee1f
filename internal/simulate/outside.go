package simulate

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// What comes from outside: requests, mostly, of programs that are not in the recording. Whether they come sooner when
// the target is faster depends on what they answer to, and the recording tells:
//
//   - A client that waits for its answer asks again a time after it. If n clients take turns, request k comes a time
//     after the answer to request k-n: of all distances between a request and an earlier answer, that one varies least.
//   - A sender with a pace of its own does not care: the distance from request to request varies less than that from
//     answer to request (periodic).
//   - A thread that always has a request to answer says nothing about what would come if it were faster (flooded).
//
// A request that came while the thread was busy ended no wait, so it is not in the recording. In a simulation the
// thread may be done sooner, and has to wait for it. So its wait is written into the program: it takes no time with
// nothing changed.
//
// Each visit to a point is taken to be an answer.

const (
	mostClients = 16  // that take turns
	distinct    = 0.5 // the distance to the true answer varies by so much less than other distances
	fewRequests = 20  // that must have ended waits, so that their distances say something

	// mostLooks bounds the work with the sources of one recording: each looks at whole programs. Threads have few.
	mostLooks = 1 << 28
)

// arrival is a request that ended a wait.
type arrival struct {
	wait    int32
	visits  []int32 // those of the entity before it, in its window
	entity  int
	ran     float64 // since the last of them
	skipped int     // requests since the last one that ended a wait, which ended none
}

// findArrivals returns, by source, the waits that something outside ended.
func (m *Machine) findArrivals() (lists map[source][]arrival, order []source) {
	lists = map[source][]arrival{}
	for i := range m.windows {
		for j := range m.windows[i].entities {
			var visits []int32
			ran := 0.0
			for _, a := range m.windows[i].entities[j].actions {
				switch a.deed {
				case doRun:
					ran += m.segments[a.of].length
				case doVisit:
					if m.visits[a.of].counts {
						visits, ran = append(visits, a.of), 0
					}
				case doWait:
					w := &m.waits[a.of]
					if w.ends != after {
						continue
					}
					s := source{w.thread, w.place}
					if lists[s] == nil {
						order = append(order, s)
					}
					n := arrival{wait: a.of, visits: visits[:len(visits):len(visits)], entity: j, ran: ran}
					if k := len(lists[s]) - 1; k >= 0 && m.waits[lists[s][k].wait].window == w.window {
						n.skipped = max(0, len(visits)-len(lists[s][k].visits)-1)
					}
					lists[s] = append(lists[s], n)
				}
			}
		}
	}
	return lists, order
}

// findOutside finds out what the ends of waits for something outside depend on.
func (m *Machine) findOutside() {
	lists, order := m.findArrivals()
	m.looks, m.writes = mostLooks, m.actions()
	for _, s := range order {
		list := lists[s]
		if n, think := m.clients(list); n > 1 {
			m.answer(s, list, n, think)
			continue
		}
		periodic, unsure := m.periodic(list)
		if unsure {
			m.doubts = append(m.doubts, "thread "+m.rec.Threads[s.thread].Name+
				" waits for something outside: whether that has a period of its own cannot be told")
		}
		if periodic {
			for _, a := range list {
				m.waits[a.wait].ends = atMoment
			}
			m.pace(s, list)
		}
	}
	m.findFloods()
	if m.looks < 0 || m.writes < 0 {
		m.doubts = append(m.doubts, "threads wait for something outside at very many places: at some of them it is taken "+
			"to come when it came, and never while the thread was busy")
	}
	m.sortSamples()
}

// actions is the number of all actions.
func (m *Machine) actions() (n int) {
	for i := range m.windows {
		for j := range m.windows[i].entities {
			n += len(m.windows[i].entities[j].actions)
		}
	}
	return n
}

// clients returns how many clients take turns, and how long each of them takes from an answer to its next request; 1 if
// the recording does not show several.
func (m *Machine) clients(list []arrival) (n int, think float64) {
	spread := make([]float64, mostClients+1) // by number of clients; 0: from request to request
	times := make([]float64, mostClients+1)
	for n := range spread {
		var x []float64
		for i, a := range list {
			w := &m.waits[a.wait]
			switch k := len(a.visits) - n; {
			case w.class != recording.Net:
			case n > 0 && k >= 0:
				x = append(x, float64(w.end-m.visits[a.visits[k]].time))
			case n == 0 && i > 0 && a.skipped == 0 && m.waits[list[i-1].wait].window == w.window:
				x = append(x, float64(w.end-m.waits[list[i-1].wait].end))
			}
		}
		spread[n] = math.Inf(1)
		if len(x) >= fewRequests && 2*len(x) >= len(list) {
			spread[n] = quantile(x, 0.75, 0) - quantile(x, 0.25, 0)
			times[n] = quantile(x, 0.5, 0)
		}
	}
	n = 1
	for k := 2; k <= mostClients; k++ {
		if spread[k] < spread[n] {
			n = k
		}
	}
	if n == 1 || spread[n] > distinct*math.Min(spread[0], spread[1]) {
		return 1, 0
	}
	return n, times[n]
}

// answer lets requests come a time after the answers that n clients wait for, also those that ended no wait.
func (m *Machine) answer(s source, list []arrival, n int, think float64) {
	for _, a := range list {
		if k := len(a.visits) - n; k >= 0 {
			w := &m.waits[a.wait]
			w.ends, w.asks = answered, a.visits[k]
			w.delay = float64(w.end - m.visits[w.asks].time)
		}
	}
	m.writeRequests(s, list, func(visits []int32) (wait, bool) {
		k := len(visits) - n
		if k < 0 {
			return wait{}, false
		}
		now := m.visits[visits[len(visits)-1]].time
		w := wait{ends: answered, asks: visits[k]}
		w.delay = math.Min(think, float64(now-m.visits[w.asks].time))
		return w, true
	})
}

// pace lets those requests that ended no wait come between the others, evenly, if the sender has a pace of its own.
func (m *Machine) pace(s source, list []arrival) {
	var between [][2]arrival
	at := map[int32]int{}
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if b.skipped == 0 {
			continue
		}
		for _, v := range b.visits[len(a.visits) : len(b.visits)-1] {
			at[v] = len(between)
		}
		between = append(between, [2]arrival{a, b})
	}
	m.writeRequests(s, list, func(visits []int32) (wait, bool) {
		last := visits[len(visits)-1]
		k, ok := at[last]
		if !ok {
			return wait{}, false
		}
		a, b := &between[k][0], &between[k][1]
		from, to := m.waits[a.wait].end, m.waits[b.wait].end
		part := float64(len(visits)-len(a.visits)) / float64(len(b.visits)-len(a.visits))
		w := wait{ends: atMoment, end: from + int64(part*float64(to-from))}
		w.end = min(w.end, m.visits[last].time)
		return w, true
	})
}

// writeRequests writes waits for requests that ended none into the programs that answer them: behind each visit that
// another visit follows without a wait at the source. request makes the wait for the request that comes after visits.
func (m *Machine) writeRequests(s source, list []arrival, request func(visits []int32) (wait, bool)) {
	var runs []float64
	for _, a := range list {
		if len(a.visits) > 0 {
			runs = append(runs, a.ran)
		}
	}
	ran := quantile(runs, 0.5, 0) // from an answer to where the thread waits
	// The list is in the order of windows, and of entities there.
	window, entity := -1, -1
	for _, a := range list {
		if w := int(m.waits[a.wait].window); w != window || a.entity != entity {
			window, entity = w, a.entity
			m.writeRequestsOf(s, window, entity, ran, request)
		}
	}
}

// writeRequestsOf does this in one entity's program.
func (m *Machine) writeRequestsOf(s source, window, j int, ran float64, request func([]int32) (wait, bool)) {
	e := &m.windows[window].entities[j]
	if m.looks -= len(e.actions); m.looks < 0 || m.writes < 0 {
		return
	}
	p := newProgram(m, e)
	var visits []int32
	last := -1 // the last visit among the actions, if no wait has followed
	for k, a := range e.actions {
		switch {
		case a.deed == doWait && m.waits[a.of].place == s.place:
			last = -1
		case a.deed == doVisit && m.visits[a.of].counts:
			if last >= 0 {
				if w, ok := request(visits); ok {
					p.insert(math.Min(p.ran[last]+ran, p.ran[k]), last+1, k, m.outsideWait(s, window, j, w))
					m.writes--
				}
			}
			visits, last = append(visits, a.of), k
		}
	}
	if len(p.inserts) > 0 {
		e.actions = p.finish()
	}
}

// outsideWait adds a wait that took no time in the recording.
func (m *Machine) outsideWait(s source, window, j int, w wait) action {
	w.owner, w.thread, w.window, w.place = int32(j), s.thread, int32(window), s.place
	w.object, w.waker, w.by, w.wakeAt = recording.No, recording.No, recording.No, recording.No
	w.latency, w.ahead, w.ran, w.gate, w.pool = recording.No, recording.No, recording.No, recording.No, recording.No
	w.server = recording.No
	w.class, w.cause, w.began = recording.Net, recording.ByStranger, w.end
	m.waits = append(m.waits, w)
	return action{doWait, int32(len(m.waits) - 1)}
}

// floodPart is how much of the time a thread may wait so that it always has a request to answer.
const floodPart = 0.05

// receives are the functions in which a thread is told of requests.
var receives = []string{"epoll_wait", "epoll_pwait", "poll", "ppoll", "select", "accept", "accept4", "recv", "recvfrom",
	"recvmsg"}

// findFloods finds threads that always have a request of somebody outside to answer: samples met them where requests
// are received, and they visit points, but they hardly ever wait there. Had they been faster, they might have had to
// wait. What can be said is how it would be if no request came sooner than the answer that was given before it.
func (m *Machine) findFloods() {
	received := make([]bool, len(m.rec.Threads))
	for _, s := range m.samples {
		t := m.segments[s.segment].thread
		received[t] = received[t] || slices.ContainsFunc(m.rec.Stacks[s.stack], func(f int32) bool {
			return f >= 0 && int(f) < len(m.rec.Frames) && slices.Contains(receives, systemCall(m.rec.Frames[f].Function))
		})
	}
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			if !received[e.thread] || !m.isFlooded(e, m.windows[i].length) {
				continue
			}
			m.flooded = true
			m.writeRequestsOf(source{e.thread, recording.No}, i, j, 0, func(visits []int32) (wait, bool) {
				return wait{ends: held, end: m.visits[visits[len(visits)-1]].time}, true
			})
		}
	}
}

// isFlooded reports whether an entity visits points, wakes nobody of the target, and hardly waits.
func (m *Machine) isFlooded(e *entity, length float64) bool {
	waited, visits := 0.0, 0
	for _, a := range e.actions {
		switch a.deed {
		case doWake:
			return false
		case doVisit:
			visits++
		case doWait:
			waited += m.waits[a.of].length()
		}
	}
	return visits >= fewRequests && waited < floodPart*length
}

// Flooded reports whether threads always had a request of somebody outside to answer. Then a run with a change is how
// it is if clients ask as fast as they are answered; with Change.Held, if they ask no sooner than they did.
func (m *Machine) Flooded() bool { return m.flooded }
