package simulate

import (
	"fmt"
	"math"
	"slices"

	"whatif/internal/recording"
)

// lock is one object that is a lock.
type lock struct {
	is      bool
	barging bool    // a thread that comes may take it before one that was woken for it
	hold    float64 // ns that threads run while they hold it, the median
}

// enoughHolds is how many times a thread must have been seen to hold a lock, so that its own median is used.
const enoughHolds = 3

// holds are how long each thread holds each lock.
type holds map[meeting][]float64

// tryLocks writes acquisitions and releases into the programs, in place of waits and wake-ups. A lock must do in the
// simulation what was recorded; where it does not, the object was none, or most of its operations are not in the
// recording. Then it keeps the recorded order: as a barrier if it can be one, or as signals.
func (m *Machine) tryLocks(lists [][]int32, unsure []int32) {
	before := make([][][]action, len(m.windows))
	for i := range m.windows {
		for j := range m.windows[i].entities {
			before[i] = append(before[i], m.windows[i].entities[j].actions)
		}
	}
	h := m.measureHolds(lists)
	name, with := "", 0.0
	for _, hidden := range []bool{true, false} {
		share := m.writeLocks(h, hidden)
		m.couple()
		if name, with = m.deviation().worst(); math.Abs(with) <= goodLock {
			m.doubtLocks(share, hidden)
			return
		}
		for i := range m.windows {
			for j := range m.windows[i].entities {
				m.windows[i].entities[j].actions = before[i][j]
			}
		}
	}
	for o := range m.locks {
		m.locks[o].is = false
	}
	for _, o := range unsure {
		m.gateBarrier(lists[o])
	}
	m.doubts = append(m.doubts, fmt.Sprintf("locks do not explain the recording (%s %.0f%% off): "+
		"threads get them in the recorded order", name, 100*math.Abs(with)))
}

// doubtLocks says how much of what happened at locks is not in the recording.
func (m *Machine) doubtLocks(share float64, written bool) {
	if share < 0.1 {
		return
	}
	what := "they are left out"
	if written {
		what = "when they were is a guess"
	}
	m.doubts = append(m.doubts, fmt.Sprintf("about %.0f%% of the times that threads held locks made nobody wait, "+
		"and are not in the recording: %s", 100*share, what))
}

// goodLock is how far the simulation may be off with locks, which is 0 without them, as all keep the recorded order. It
// is less than Bound: with other changes this error comes on top of others.
const goodLock = 0.05

// measureHolds finds how long locks are held, from threads that waited for a lock and woke another one as they released
// it; and whether locks are handed over or barged for.
func (m *Machine) measureHolds(lists [][]int32) holds {
	h := holds{}
	all := make([][]float64, len(m.locks))
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			since := map[int32]float64{}
			ran := 0.0
			for _, a := range e.actions {
				if a.deed == doRun {
					ran += m.segments[a.of].length
				}
				o, acquires := m.lockOf(a)
				if o < 0 {
					continue
				}
				from, held := since[o]
				if acquires {
					since[o] = ran
				} else if held {
					h[meeting{o, e.thread}] = append(h[meeting{o, e.thread}], ran-from)
					all[o] = append(all[o], ran-from)
					delete(since, o)
				}
			}
		}
	}
	for o := range m.locks {
		l := &m.locks[o]
		if !l.is {
			continue
		}
		// Where no holder had waited: a thread that comes while the lock is held waits for half of it, on average.
		l.hold = 2 * quantile(m.lengths(lists[o]), 0.5, 0)
		if len(all[o]) >= enoughHolds {
			l.hold = quantile(all[o], 0.5, 0)
		}
		l.barging = m.barges(lists[o])
	}
	return h
}

// lengths returns how long waits were.
func (m *Machine) lengths(list []int32) []float64 {
	var out []float64
	for _, n := range list {
		out = append(out, m.waits[n].length())
	}
	return out
}

// lockOf returns the lock of an action, or No, and whether the action acquires it.
func (m *Machine) lockOf(a action) (o int32, acquires bool) {
	if a.deed != doWait && a.deed != doWake {
		return recording.No, false
	}
	w := &m.waits[a.of]
	if w.object < 0 || !m.locks[w.object].is || w.ends == after || w.ends == atMoment {
		return recording.No, false
	}
	return w.object, a.deed == doWait
}

// barges reports whether a lock is free when its holder has woken the next one: another thread releases it again before
// that one has run. One case in twenty may be an error of the recording.
func (m *Machine) barges(list []int32) bool {
	n := 0
	for i, a := range list {
		w := &m.waits[a]
		for _, b := range list[i+1:] {
			v := &m.waits[b]
			if v.window != w.window || w.ran == recording.No || v.end >= w.ran {
				break
			}
			if v.waker != w.thread {
				n++
				break
			}
		}
	}
	return 20*n > len(list)
}

// writeLocks writes the operations of locks into the programs; hidden ones, too, if asked to. It returns the share of
// holds that are hidden.
func (m *Machine) writeLocks(h holds, hidden bool) float64 {
	all, missing := 0.0, 0.0
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			if slices.ContainsFunc(e.actions, func(a action) bool { o, _ := m.lockOf(a); return o >= 0 }) {
				p := newProgram(m, e)
				for o := range m.locks {
					if m.locks[o].is {
						hold := m.holdOf(h, int32(o), e.thread)
						p.write(int32(o), hold)
						n := p.hidden()
						if hidden {
							p.writeHidden(int32(o), hold, int(n+0.5))
						}
						missing += n
						all += n + p.seen()
					}
				}
				e.actions = p.finish()
			}
		}
	}
	return missing / math.Max(1, all)
}

// holdOf returns how long a thread holds a lock.
func (m *Machine) holdOf(h holds, o, thread int32) float64 {
	if own := h[meeting{o, thread}]; len(own) >= enoughHolds {
		return quantile(own, 0.5, 0)
	}
	return m.locks[o].hold
}

// program is an entity's program while operations of locks are written into it.
type program struct {
	m       *Machine
	actions []action
	ran     []float64 // by action: what the entity has run before
	total   float64
	inserts []insert

	// Of the lock that was written last:
	acquired, released, both float64 // operations that are in the recording, and holds of which both are
	gaps                     []gap
}

// gap is a stretch of the program without a known hold: what the entity has run at its begin and end, and between which
// actions it is.
type gap struct {
	from, to  float64
	low, high int
}

// insert is an action that comes into the program: before action at, or, if that is a run, so far into it.
type insert struct {
	at     int
	offset float64
	action action
}

func newProgram(m *Machine, e *entity) *program {
	p := &program{m: m, actions: slices.Clone(e.actions)}
	for _, a := range e.actions {
		p.ran = append(p.ran, p.total)
		if a.deed == doRun {
			p.total += m.segments[a.of].length
		}
	}
	return p
}

// write writes the operations of one lock. An acquisition that nobody had to wait for, and a release that woke nobody,
// are not in the recording: they are written where the other half says that they were.
func (p *program) write(o int32, hold float64) {
	p.acquired, p.released, p.both, p.gaps = 0, 0, 0, p.gaps[:0]
	free, freeAt := 0.0, 0 // the end of the last hold, and the action after it
	held, from, acquired := false, 0.0, 0
	last, floor, floorAt := math.Inf(-1), 0.0, 0 // the last release; the last wait, and the action after it
	for i, a := range p.actions {
		if a.deed == doWait {
			floor, floorAt = p.ran[i], i+1
		}
		of, acquires := p.m.lockOf(a)
		switch {
		case of != o:
		case acquires && held && p.m.locks[o].barging && p.ran[i]-from < hold/2:
			p.actions[acquired] = action{deed: doNothing} // it was woken in vain
			p.actions[i] = action{doAcquire, o}
			from, acquired = p.ran[i], i
		case acquires:
			if held {
				free, freeAt = math.Min(from+hold, p.ran[i]), acquired
				p.insert(free, acquired, i, action{doRelease, o})
			}
			p.gaps = append(p.gaps, gap{free, p.ran[i], freeAt, i})
			p.acquired++
			p.actions[i] = action{doAcquire, o}
			held, from, acquired = true, p.ran[i], i
		case held:
			p.actions[i] = action{doRelease, o}
			p.released++
			p.both++
			free, freeAt = p.ran[i], i+1
			held, last, floor, floorAt = false, p.ran[i], p.ran[i], i+1
		case p.ran[i]-last < hold/10:
			p.actions[i] = action{deed: doNothing} // one release that woke several
		default:
			at := math.Max(p.ran[i]-hold, floor)
			p.insert(at, floorAt, i, action{doAcquire, o})
			p.actions[i] = action{doRelease, o}
			p.gaps = append(p.gaps, gap{free, at, freeAt, i})
			p.released++
			free, freeAt = p.ran[i], i+1
			last, floor, floorAt = p.ran[i], p.ran[i], i+1
		}
	}
	if held && from+hold < p.total {
		p.insert(from+hold, acquired, len(p.actions), action{doRelease, o})
	}
}

// seen returns how many holds are in the recording, at least with one of their operations.
func (p *program) seen() float64 {
	return p.acquired + p.released - p.both
}

// hidden returns about how many holds are not in the recording at all: nobody waited before them or meanwhile. It is the
// estimate of Lincoln and Petersen, which counts animals by catching them twice: if whether a hold begins with a wait
// says nothing about whether others wait at its end, the share of releases with a known acquisition is that of all holds.
func (p *program) hidden() float64 {
	if p.both < enoughHolds {
		return 0
	}
	return p.acquired*p.released/p.both - p.seen()
}

// writeHidden writes n holds that are not in the recording. They are in the longest gaps: a gap of c or more has one, of
// 2c two; c such that there are n.
func (p *program) writeHidden(o int32, hold float64, n int) {
	if n <= 0 {
		return
	}
	count := func(c float64) (all int) {
		for _, g := range p.gaps {
			all += int((g.to - g.from) / c)
		}
		return all
	}
	low, high := math.Max(hold, 1), math.Max(p.total, 2) // of gaps no longer than a hold, none has one
	for range 50 {
		if c := (low + high) / 2; count(c) > n {
			low = c
		} else {
			high = c
		}
	}
	for _, g := range p.gaps {
		k := int((g.to - g.from) / high)
		free := (g.to - g.from - float64(k)*hold) / float64(k+1)
		if free < 0 {
			continue
		}
		at := g.from
		for range k {
			p.insert(at+free, g.low, g.high, action{doAcquire, o})
			p.insert(at+free+hold, g.low, g.high, action{doRelease, o})
			at += free + hold
		}
	}
}

// insert puts an action where the entity has run so much, between two of its actions.
func (p *program) insert(ran float64, low, high int, a action) {
	for i := low; i < high; i++ {
		if p.actions[i].deed == doRun && ran < p.ran[i]+p.m.segments[p.actions[i].of].length {
			p.inserts = append(p.inserts, insert{i, math.Max(0, ran-p.ran[i]), a})
			return
		}
	}
	p.inserts = append(p.inserts, insert{high, 0, a})
}

// finish returns the program with everything that came into it.
func (p *program) finish() []action {
	slices.SortStableFunc(p.inserts, func(a, b insert) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.offset < b.offset:
			return -1
		case a.offset > b.offset:
			return 1
		}
		return 0
	})
	var out []action
	next := 0
	for i := 0; i <= len(p.actions); i++ {
		done := 0.0
		for ; next < len(p.inserts) && p.inserts[next].at == i; next++ {
			in := p.inserts[next]
			out = p.part(out, i, done, in.offset)
			done = math.Max(done, in.offset)
			out = append(out, in.action)
		}
		if i == len(p.actions) {
			break
		}
		switch a := p.actions[i]; {
		case a.deed == doNothing:
		case a.deed == doRun && done > 0:
			out = p.part(out, i, done, p.m.segments[a.of].length)
		default:
			out = append(out, a)
		}
	}
	return out
}

// part appends a part of a run.
func (p *program) part(out []action, i int, from, to float64) []action {
	if to <= from {
		return out
	}
	s := p.m.segments[p.actions[i].of]
	s.length = to - from
	p.m.segments = append(p.m.segments, s)
	return append(out, action{doRun, int32(len(p.m.segments) - 1)})
}
