package simulate

import (
	"maps"
	"slices"

	"whatif/internal/recording"
)

// A server answers several clients, each at an object of its own, a socket mostly. While it is busy, requests come
// unseen: they end no wait. As recorded, its program would answer the same clients in the same order, also those that
// have not asked yet. So its program is written anew: it takes the request that came first, works, and answers that
// client. A client asks by waiting for its answer. The threads of a pool that answer the same clients are one server:
// whichever is free takes the next request.

// server is some threads that answer clients.
type server struct {
	threads map[int32]bool
	clients map[int32]int32 // the object at which each of them waits
	// By wait of a client that no answer ended, the next one, which the client began at once: the server had taken the
	// request, and that made room in the client's socket.
	vain map[int32]int32
}

// leastClients is how many clients a server must have: of one, the program says when it is answered.
const leastClients = 2

// tryServers finds servers, and writes their programs anew if the simulation then does what was recorded, or at least
// comes closer to it. It returns the objects at which their clients wait.
func (m *Machine) tryServers(lists [][]int32, queues []int32) (objects []int32) {
	all := m.findServers(lists, queues)
	if len(all) == 0 {
		return nil
	}
	was := m.written()
	for i, s := range all {
		for _, o := range s.clients {
			objects = append(objects, o)
		}
		m.writeServer(int32(i), s)
	}
	m.servers = len(all)
	m.couple()
	_, off := m.off()
	if off <= goodLock {
		return objects
	}
	anew := m.written()
	m.write(was)
	if _, before := m.off(); before <= off {
		return nil
	}
	m.write(anew)
	return objects
}

// written is what tryServers changes.
type written struct {
	waits    []wait
	windows  []WindowOutcome
	entities [][]entity
	servers  int
}

func (m *Machine) written() written {
	w := written{waits: slices.Clone(m.waits), windows: slices.Clone(m.was.Windows), servers: m.servers}
	for i := range m.windows {
		w.entities = append(w.entities, slices.Clone(m.windows[i].entities))
	}
	return w
}

func (m *Machine) write(w written) {
	m.waits, m.was.Windows, m.servers = w.waits, w.windows, w.servers
	for i := range m.windows {
		m.windows[i].entities = w.entities[i]
	}
	m.couple()
}

// findServers finds threads that let several others go on, each at an object where nobody else waits, and that do so to
// those that waited when they began with it.
func (m *Machine) findServers(lists [][]int32, queues []int32) (all []*server) {
	of := map[int32]*server{} // by thread
	var found []*server
	for _, o := range queues {
		client, wakers := m.answered(lists[o])
		var those []*server
		twice := false
		for _, t := range wakers {
			if s := of[t]; s != nil && !slices.Contains(those, s) {
				_, asks := s.clients[client]
				those, twice = append(those, s), twice || asks
			}
		}
		if len(wakers) == 0 || twice {
			continue
		}
		if len(those) == 0 {
			s := &server{threads: map[int32]bool{}, clients: map[int32]int32{}, vain: map[int32]int32{}}
			those, found = append(those, s), append(found, s)
		}
		s := those[0]
		for _, other := range those[1:] {
			s.take(other, of)
		}
		for _, t := range wakers {
			s.threads[t], of[t] = true, s
		}
		s.clients[client] = o
		m.findVain(s, lists[o])
	}
	for _, s := range found {
		if len(s.clients) >= leastClients && !s.asksItself() && m.serves(s) {
			all = append(all, s)
		}
	}
	return all
}

// rarely is the part of its share of the answers to a client that a thread must give to be one of its server's.
const rarely = 0.1

// answered is the one thread that waits at an object, and those that mostly let it go on; nil: several wait.
func (m *Machine) answered(list []int32) (client int32, wakers []int32) {
	client = m.waits[list[0]].thread
	times := map[int32]int{}
	for _, n := range list {
		w := &m.waits[n]
		if w.thread != client {
			return client, nil
		}
		if times[w.waker]++; times[w.waker] == 1 {
			wakers = append(wakers, w.waker)
		}
	}
	least := rarely * float64(len(list)) / float64(len(wakers))
	return client, slices.DeleteFunc(wakers, func(t int32) bool { return float64(times[t]) < least })
}

// take makes another server's threads and clients its own.
func (s *server) take(other *server, of map[int32]*server) {
	for t := range other.threads {
		s.threads[t], of[t] = true, s
	}
	for client, o := range other.clients {
		if _, asks := s.clients[client]; !asks {
			s.clients[client] = o
		}
	}
	maps.Copy(s.vain, other.vain)
	other.clients = nil
}

// asksItself reports whether one of the threads is a client, too.
func (s *server) asksItself() bool {
	for t := range s.threads {
		if _, asks := s.clients[t]; asks {
			return true
		}
	}
	return false
}

// findVain finds waits of one client that no answer ended. If it often waits again at once, and once more at once,
// it has asked again at once.
func (m *Machine) findVain(s *server, list []int32) {
	var pairs, ends []int32
	chains := 0
	for i, n := range list[1:] {
		before := list[i]
		a, b := &m.waits[before], &m.waits[n]
		switch {
		case a.window != b.window || !a.inVain(b):
		case len(ends) > 0 && ends[len(ends)-1] == before:
			chains++
		default:
			pairs, ends = append(pairs, before), append(ends, n)
		}
	}
	for i, before := range pairs {
		if 2*chains < len(pairs) {
			s.vain[before] = ends[i]
		}
	}
}

// serves reports whether clients of a server had mostly asked when it began to work for them: after the answer before,
// or when a client woke it, which then is the one that gets the answer. A client that shares a core with the server may
// begin to wait a little later.
func (m *Machine) serves(s *server) bool {
	good, bad := 0, 0
	for i := range m.windows {
		for j := range m.windows[i].entities {
			if !s.threads[m.windows[i].entities[j].thread] {
				continue
			}
			start, asked := int64(recording.No), int32(recording.No)
			for _, a := range m.windows[i].entities[j].actions {
				switch w := m.waitOf(a); {
				case w == nil:
				case a.deed == doWait && s.asks(w):
					if asked >= 0 { // it has waited for two
						bad++
					}
					start, asked = w.end, w.waker
				case a.deed == doWake && s.answers(w):
					switch {
					case start < 0:
					case asked == w.thread || asked < 0 && w.began <= start:
						good++
					default:
						bad++
					}
					start, asked = w.end, recording.No
					if _, vain := s.vain[a.of]; vain {
						asked = w.thread // it was heard
					}
				}
			}
		}
	}
	return good >= fewOps && 5*bad <= good+bad
}

// waitOf returns the wait of an action that begins or ends one; otherwise nil.
func (m *Machine) waitOf(a action) *wait {
	if a.deed != doWait && a.deed != doWake {
		return nil
	}
	return &m.waits[a.of]
}

// answers reports whether a wait is one of a client for its answer.
func (s *server) answers(w *wait) bool {
	o, ok := s.clients[w.thread]
	return ok && w.object == o && (w.ends == byWake && s.threads[w.waker] || w.ends == never)
}

// asks reports whether a wait is one of the server for a request.
func (s *server) asks(w *wait) bool {
	_, ok := s.clients[w.waker]
	return ok && s.threads[w.thread] && w.ends == byWake
}

// writeServer writes the programs of a server and its clients anew.
func (m *Machine) writeServer(no int32, s *server) {
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			if _, ok := s.clients[e.thread]; ok {
				e.actions = m.clientOf(no, s, e.actions, &m.was.Windows[i])
			} else if s.threads[e.thread] {
				e.serves = m.servedFirst(s, e.actions)
				e.actions = m.serverProgram(no, s, e.actions)
			}
		}
	}
}

// serverProgram is a server's program: before each answer it takes a request. Where that is not seen, it did so after
// the answer before; of the first answer in a window, before the window.
func (m *Machine) serverProgram(no int32, s *server, actions []action) (out []action) {
	var since []action // the last answer
	take, first := action{doTake, no}, true
	took := false
	for _, a := range actions {
		w := m.waitOf(a)
		_, heard := s.vain[a.of]
		switch {
		case w != nil && (a.deed == doWait && s.asks(w) || a.deed == doWake && s.answers(w) && heard):
			if !took {
				since = append(since, take)
			}
			took = true
		case w != nil && a.deed == doWake && s.answers(w):
			if !took && !first {
				out = append(out, take)
			}
			out = append(append(out, since...), action{doAnswer, a.of})
			since, took, first = nil, false, false
		default:
			since = append(since, a)
		}
	}
	return append(out, since...)
}

// servedFirst is the client for which a server's thread works as the window begins: that one waits already, and gets
// the first answer, before which no request is seen to be taken. No: none.
func (m *Machine) servedFirst(s *server, actions []action) int32 {
	for _, a := range actions {
		w := m.waitOf(a)
		switch {
		case w == nil:
		case a.deed == doWait && s.asks(w):
			return recording.No
		case a.deed == doWake && s.answers(w):
			if _, heard := s.vain[a.of]; heard || w.began > 0 {
				return recording.No
			}
			return w.owner
		}
	}
	return recording.No
}

// clientOf is a client's program: its waits ask the server, and it need not wake that.
func (m *Machine) clientOf(no int32, s *server, actions []action, was *WindowOutcome) (out []action) {
	begin := -1 // of a wait after which it waited again at once
	for _, a := range actions {
		w := m.waitOf(a)
		if w != nil && a.deed == doWake && s.asks(w) {
			continue
		}
		if w != nil && a.deed == doWait && s.answers(w) {
			if begin >= 0 {
				m.joinWaits(out[begin:], w, was)
				out = out[:begin]
			}
			w.server, w.gate = no, recording.No
			begin = -1
			if _, vain := s.vain[a.of]; vain {
				begin = len(out)
			}
		} else if begin >= 0 && a.deed != doRun { // it did something in between
			first := &m.waits[out[begin].of]
			first.server, first.ends = recording.No, after
			begin = -1
		}
		out = append(out, a)
	}
	return out
}

// ask lets a client wait for its answer. It returns whether it has that.
func (r *run) ask(i, n int32) bool {
	if r.flags[n]&ended != 0 {
		return true
	}
	w := &r.m.waits[n]
	s := &r.servers[w.server]
	r.flags[n] |= open
	r.set(i, asleep)
	if w.ends == never {
		r.finished(i)
	}
	if r.ents[i].served { // since before the window
		return false
	}
	s.asking = append(s.asking, i)
	if len(s.sleeping) > 0 {
		g := s.sleeping[0]
		s.sleeping = append(s.sleeping[:0], s.sleeping[1:]...)
		r.serve(g, s)
		r.wake(g)
	}
	return false
}

// serve has a server's thread take the request that came first.
func (r *run) serve(i int32, s *serverState) {
	r.ents[i].serves = s.asking[0]
	s.asking = append(s.asking[:0], s.asking[1:]...)
	r.ents[i].pos++
}

// take lets a server's thread take a request, or wait for one.
func (r *run) take(i, no int32) bool {
	s := &r.servers[no]
	if len(s.asking) == 0 {
		s.sleeping = append(s.sleeping, i)
		r.block(i, queued)
		return false
	}
	r.serve(i, s)
	return true
}

// answer lets the client go on of which a server has taken a request. Where none was seen to be taken it is that of the
// recording, once that has asked.
func (r *run) answer(i, n int32) {
	r.ents[i].pos++
	s := &r.servers[r.m.waits[n].server]
	c := r.ents[i].serves
	r.ents[i].serves = recording.No
	if c >= 0 && r.ents[c].served {
		r.ents[c].served = false
		if r.ents[c].wait != n { // it has not yet begun to wait
			r.flags[n] |= ended
			return
		}
	}
	if c < 0 {
		if c = r.m.waits[n].owner; !slices.Contains(s.asking, c) {
			r.flags[n] |= ended
			return
		}
		s.asking = remove(s.asking, c)
	}
	k := r.ents[c].wait
	r.flags[k] = r.flags[k]&^open | ended
	r.wake(c)
}
