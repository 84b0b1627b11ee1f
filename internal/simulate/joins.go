package simulate

import (
	"slices"

	"whatif/internal/recording"
)

// A thread that waits for several others is woken by the last of them. In a simulation another one may be the last. So
// each of them has to wake it, and its wait needs all these wake-ups.

// ended takes in that a thread is over. If its last deed was to wake its parent, the parent has joined it, and before
// or after it all its other children that are over: their ends made nobody wait.
func (b *builder) ended(s int32) {
	t := &b.tracks[s]
	if t.parent < 0 {
		return
	}
	p := &b.tracks[t.parent]
	last := len(t.actions) - 1
	for last >= 0 && t.actions[last].deed == doRun {
		last--
	}
	if last < 0 || t.actions[last].deed != doWake || b.m.waits[t.actions[last].of].owner != p.entity {
		p.children = append(p.children, s)
		return
	}
	n := t.actions[last].of
	w := &b.m.waits[n]
	w.join = true
	later := p.children[:0]
	for _, c := range p.children {
		if b.tracks[c].over > w.end { // while this thread was on its way from the wake-up to its end
			later = append(later, c)
			continue
		}
		b.tracks[c].actions = append(b.tracks[c].actions, action{doWake, n})
		w.more++
	}
	p.children = later
}

// errand is one round of a thread that gives work to others and waits until it is done.
type errand struct {
	wait int32   // of the thread
	back []int32 // the next waits of the others, that it did not wake up from
	ok   bool    // one of the others woke it, when all the rest waited again
}

// findLatches finds threads that wake others, wait, and go on when all of these have come to wait again: work is
// given to threads that stay (a pool with a barrier at its end, a count of open jobs). If this is so in nine of ten
// rounds, it is so by intent: of the others, windows cut some, and in some a thread was done but did not wait yet.
func (m *Machine) findLatches(objects []int32) {
	is := make([]bool, len(m.rec.Objects))
	for _, o := range objects {
		is[o] = true
	}
	next := m.nextWaits(is)
	rounds := map[meeting][]errand{}
	var order []meeting
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			var given []int32
			for _, a := range e.actions {
				switch {
				case a.deed == doWake && m.waits[a.of].object >= 0 && is[m.waits[a.of].object]:
					given = append(given, a.of)
				case a.deed == doWait && m.waits[a.of].ends == byWake && m.waits[a.of].object >= 0 &&
					is[m.waits[a.of].object]:
					at := meeting{m.waits[a.of].object, e.thread}
					if rounds[at] == nil {
						order = append(order, at)
					}
					rounds[at] = append(rounds[at], m.errand(a.of, given, next))
					given = given[:0]
				}
			}
		}
	}
	signals := map[int32][]int32{} // by wait of the others: the waits that need to know
	for _, at := range order {
		list := rounds[at]
		good, more := 0, 0
		for _, r := range list {
			if r.ok {
				good++
				more += len(r.back)
			}
		}
		if len(list) < fewOps || 10*good < 9*len(list) || more == 0 {
			continue
		}
		for _, r := range list {
			if r.ok {
				for _, w := range r.back {
					signals[w] = append(signals[w], r.wait)
				}
				m.waits[r.wait].more += int32(len(r.back))
			}
		}
	}
	if len(signals) > 0 {
		m.writeSignals(signals)
	}
}

// nextWaits returns the next wait of the same thread for another one at one of some objects, by wait; No if there is
// none. Between two of them it may wait for a lock, or for something outside.
func (m *Machine) nextWaits(is []bool) []int32 {
	next := make([]int32, len(m.waits))
	last := map[source]int32{}
	for i := range m.waits {
		next[i] = recording.No
		w := &m.waits[i]
		if w.thread < 0 || w.object < 0 || !is[w.object] {
			continue
		}
		s := source{w.thread, w.window}
		if n, ok := last[s]; ok {
			next[n] = int32(i)
		}
		last[s] = int32(i)
	}
	return next
}

// errand looks at one wait of a thread, and at the waits that it had ended before.
func (m *Machine) errand(n int32, given, next []int32) errand {
	w := &m.waits[n]
	r := errand{wait: n}
	for _, g := range given {
		if m.waits[g].thread == w.waker {
			r.ok = true
			continue
		}
		back := next[g]
		if back < 0 || m.waits[back].began > w.end {
			r.ok = false
			return r
		}
		if m.waits[back].thread != w.thread && !slices.Contains(r.back, back) {
			r.back = append(r.back, back)
		}
	}
	return r
}

// writeSignals lets threads tell others that they have come to wait again.
func (m *Machine) writeSignals(signals map[int32][]int32) {
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			var out []action
			for _, a := range e.actions {
				if a.deed == doWait {
					for _, n := range signals[a.of] {
						out = append(out, action{doWake, n})
					}
				}
				out = append(out, a)
			}
			e.actions = out
		}
	}
}
