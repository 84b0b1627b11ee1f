package simulate

import (
	"fmt"
	"slices"

	"whatif/internal/recording"
)

// Polling: a thread that sleeps a little, looks whether another one has come so far, and sleeps again. Busy waiting: it
// looks again and again, without a sleep. Nothing wakes it, so a recording does not say what it waits for, and a
// simulation would let it look as often as it did, however soon the other one is there. This file finds such threads,
// so that estimates are refused.

const (
	longStep = 10   // a stretch that is so many times the median is no look, but what the thread had waited for
	pollPart = 0.05 // of the recorded time: what polls take, and what the thread does afterwards, if it is to matter
)

// joinRetries makes one wait of several at one object, of which a timer ended all but the last, and another thread that
// one: a thread that waits with a timeout, looks, and waits again has waited all the time. Where the other thread comes
// sooner there are fewer timeouts.
func (m *Machine) joinRetries() {
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			e.actions = m.withoutRetries(e.actions, &m.was.Windows[i])
		}
	}
}

func (m *Machine) withoutRetries(actions []action, was *WindowOutcome) []action {
	var out []action
	first, object, ran, waited := -1, int32(recording.No), 0.0, 0.0 // of the waits with a timeout so far
	for _, a := range actions {
		switch a.deed {
		case doRun:
			ran += m.segments[a.of].length
		case doWait:
			w := &m.waits[a.of]
			again := first >= 0 && w.object == object && ran < waited
			timeout := w.ends == after && w.cause == recording.ByTimer && w.object >= 0
			if again && w.ends == byWake {
				m.joinWaits(out[first:], w, was)
				out = out[:first]
			}
			switch {
			case !timeout:
				first = -1
			case !again:
				first, object = len(out), w.object
			}
			ran, waited = 0, w.length()
		default:
			first = -1
		}
		out = append(out, a)
	}
	return out
}

// joinWaits lets a wait begin where the first of some actions before it does: waits and runs, which are no more.
func (m *Machine) joinWaits(before []action, w *wait, was *WindowOutcome) {
	was.Waited[w.class] -= w.end - w.began
	w.began = m.waits[before[0].of].began
	was.Waited[w.class] += w.end - w.began
	for _, a := range before {
		if a.deed == doRun {
			was.Busy -= int64(m.segments[a.of].length + m.segments[a.of].cost)
			continue
		}
		o := &m.waits[a.of]
		was.Waited[o.class] -= o.end - o.began
	}
}

// poller is what is known of a thread that sleeps at one place.
type poller struct {
	ran     []float64 // between a sleep and the next one there, with nothing else that the thread did; visits: < 0
	windows []int32   // of each
	slept   float64
	woken   bool // sometimes another thread ends the wait: then sleeps that nobody ends are retries, however many
}

// findPolls finds threads that poll. One that has no other thread beside it polls for something outside.
func (m *Machine) findPolls() {
	length, seen, order := 0.0, map[source]*poller{}, []source(nil)
	threads := map[int32]bool{}
	for i := range m.windows {
		length += m.windows[i].length
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			if slices.ContainsFunc(e.actions, isRun) {
				threads[e.thread] = true
			}
			order = m.collectPolls(int32(i), e, seen, order)
		}
	}
	if len(threads) < 2 {
		return
	}
	for _, s := range order {
		if p := seen[s]; p.slept >= pollPart*length && p.polls(pollPart*length) {
			m.unknown = append(m.unknown, fmt.Sprintf("thread %s polls: it sleeps, looks, and sleeps again, %.0f%% of "+
				"the time; what it waits for is not in a recording", m.rec.Threads[s.thread].Name, 100*p.slept/length))
		}
	}
}

// findSpins finds threads that wait busily: samples met them in a loop that does nothing else.
func (m *Machine) findSpins() {
	length, spun, all := 0.0, make([]float64, len(m.rec.Threads)), 0.0
	for i := range m.windows {
		length += m.windows[i].length
	}
	waiting := make([]bool, len(m.rec.Stacks))
	for i, s := range m.rec.Stacks {
		waiting[i] = spins(s, m.rec.Frames)
	}
	for _, s := range m.samples {
		if s.stack >= 0 && waiting[s.stack] {
			spun[m.segments[s.segment].thread] += float64(m.rec.Period)
			all += float64(m.rec.Period)
		}
	}
	if all > 0 && all >= pollPart*length {
		most := m.rec.Threads[slices.Index(spun, slices.Max(spun))].Name
		m.unknown = append(m.unknown, fmt.Sprintf("threads wait busily for %.0f%% of the time, %s most of all: "+
			"what they wait for is not in a recording", 100*all/length, most))
	}
}

// spins reports whether a thread at a stack waits busily: what it called to do so is not in scope.
func spins(s recording.Stack, frames []recording.Frame) bool {
	for _, f := range s {
		if f >= 0 && int(f) < len(frames) && (frames[f].Spins || frames[f].InScope) {
			return frames[f].Spins
		}
	}
	return false
}

// collectPolls adds what one entity did between sleeps.
func (m *Machine) collectPolls(window int32, e *entity, seen map[source]*poller, order []source) []source {
	last, ran, visits := source{thread: recording.No}, 0.0, false
	for _, a := range e.actions {
		switch a.deed {
		case doRun:
			ran += m.segments[a.of].length
		case doVisit:
			visits = true
		case doWait:
			w := &m.waits[a.of]
			if w.place < 0 || w.class != recording.Sleep && w.class != recording.Lock {
				last.thread = recording.No
				continue
			}
			at := source{e.thread, m.rec.Places[w.place].Stack}
			p := seen[at]
			if p == nil {
				p = &poller{}
				seen[at] = p
				order = append(order, at)
			}
			if w.class == recording.Lock { // it may be around the look
				p.woken = true
				continue
			}
			if at == last {
				if visits {
					ran = -1 - ran
				}
				p.ran, p.windows = append(p.ran, ran), append(p.windows, window)
			}
			p.slept += w.length()
			last, ran, visits = at, 0, false
		}
	}
	return order
}

// polls reports whether the thread sleeps several times in a row, not always equally often, and then does something
// that takes long, or visits a point. A thread that always sleeps equally often counts its sleeps.
func (p *poller) polls(least float64) bool {
	median := quantile(slices.Clone(p.ran), 0.5, 0)
	if median < 0 {
		return false // it visits a point each time
	}
	worked := 0.0
	chains := map[int]int{} // by length
	n, all, most := 0, 0, 0
	for i, ran := range p.ran {
		if i > 0 && p.windows[i] != p.windows[i-1] {
			n = -len(p.ran) // the window cut it
		}
		if ran >= 0 && ran <= longStep*median {
			n++
			continue
		}
		worked += max(ran, -ran)
		if n > 0 {
			chains[n]++
			all++
			most = max(most, chains[n])
		}
		n = 0
	}
	return all >= fewOps && (p.woken || 10*most < 9*all) && worked >= least
}
