package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"whatif/internal/recording"
)

// lock is one object that is a lock.
type lock struct {
	is      bool
	barging bool    // a thread that comes may take it before one that was woken for it
	fair    bool    // Go's: it is handed over while goroutines starve, see goPatience
	hold    float64 // ns that threads run while they hold it, the median
}

// Go's lock, as in names of functions. A sync.Mutex may be taken by the first to come, until a goroutine that was
// woken for it finds it taken, and has waited for goPatience (starvationThresholdNs in package sync). From then on it
// is handed over to the one that has waited for longest, which the thread of the one that releases it runs at once;
// until a goroutine gets it that nobody waits behind, or that has waited for less.
const (
	goMutex    = "sync.(*Mutex)."
	goPatience = 1e6
)

// enoughHolds is how many times a thread must have been seen to hold a lock, so that its own median is used.
const enoughHolds = 3

// uses are facts about how one thread uses one lock.
type uses struct {
	hold    float64 // how long it holds the lock: ns that it runs meanwhile, the median. 0: unknown
	inside  int     // visits between an acquisition and its release
	between int     // visits between a release and the next acquisition
	visit   float64 // ns from a release to the visit that belongs to it; negative: the visit comes before
	counted bool    // its visits tell how often it held the lock
	waits   int     // how often it waits for something outside while it holds the lock: a disk, a clock
}

// tryLocks writes acquisitions and releases into the programs, in place of waits and wake-ups. A lock must do in the
// simulation what was recorded, without threads that wait for each other; where it does not, the object was none, or
// most of its operations are not in the recording. Then it keeps the recorded order: as a barrier if it can be one, or
// as signals.
func (m *Machine) tryLocks(lists [][]int32, unsure []int32) {
	before := m.programs()
	h := m.measureHolds(lists)
	most := goodLock
	if m.servers > 0 { // they may be off by themselves
		m.couple()
		_, off := m.off()
		most = math.Max(most, off)
	}
	why := ""
	for _, hidden := range []bool{true, false} {
		share := m.writeLocks(h, hidden)
		m.couple()
		by := 0.0
		if why, by = m.off(); by <= most {
			m.doubtLocks(share, hidden)
			m.sortSamples()
			return
		}
		m.pieces = m.pieces[:0]
		m.restore(before)
	}
	if m.dropSmall(lists, unsure) {
		if slices.ContainsFunc(m.locks, func(l lock) bool { return l.is }) {
			m.tryLocks(lists, unsure)
		}
		return
	}
	for o := range m.locks {
		m.locks[o].is = false
	}
	for _, o := range unsure {
		m.gateBarrier(lists[o])
	}
	m.doubts = append(m.doubts, "locks do not explain the recording ("+why+"): threads get them in the recorded order")
}

// programs are the actions of all entities, by window.
func (m *Machine) programs() [][][]action {
	all := make([][][]action, len(m.windows))
	for i := range m.windows {
		for j := range m.windows[i].entities {
			all[i] = append(all[i], m.windows[i].entities[j].actions)
		}
	}
	return all
}

// restore lets entities have other programs.
func (m *Machine) restore(programs [][][]action) {
	for i := range m.windows {
		for j := range m.windows[i].entities {
			m.windows[i].entities[j].actions = programs[i][j]
		}
	}
}

// off says how far the simulation is from what was recorded, with what was inferred of objects; without an end if all
// threads wait for each other.
func (m *Machine) off() (how string, by float64) {
	d := m.deviation()
	if d.Stuck {
		return "all threads wait for each other", math.Inf(1)
	}
	what, by := d.Worst()
	by = math.Abs(by)
	return fmt.Sprintf("%s %.0f%% off", what, 100*by), by
}

// smallPart is which part of the time threads wait for a lock that does not matter.
const smallPart = 0.01

// dropSmall lets waits for locks that hardly make anybody wait be as long as recorded, whatever other threads do: to
// keep their order would let threads wait for each other that meet there by chance. What may be a barrier stays. It
// returns whether there was such a lock.
func (m *Machine) dropSmall(lists [][]int32, unsure []int32) (any bool) {
	length := 0.0
	for i := range m.windows {
		length += m.windows[i].length
	}
	for o := range m.locks {
		waited := 0.0
		for _, x := range m.lengths(lists[o]) {
			waited += x
		}
		if !m.locks[o].is || waited > smallPart*length || slices.Contains(unsure, int32(o)) {
			continue
		}
		m.locks[o].is, any = false, true
		for _, n := range lists[o] {
			m.waits[n].ends = after
		}
	}
	return any
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

// goodLock is how far the simulation may be off with locks, or with servers that do not bring it closer to the
// recording. It is less than Bound: with other changes this error comes on top of others.
const goodLock = 0.05

// observed is what was seen between two operations of a thread at a lock.
type observed struct {
	length, visit []float64
	inside, waits []float64
	between       []float64
}

// measureHolds finds how long locks are held, from threads that waited for a lock and woke another one as they released
// it; and whether locks are handed over or barged for.
func (m *Machine) measureHolds(lists [][]int32) map[meeting]uses {
	seen, order := m.observe()
	all := make([][]float64, len(m.locks))
	found := map[meeting]uses{}
	for _, at := range order {
		s := seen[at]
		u := uses{inside: int(quantile(slices.Clone(s.inside), 0.1, 0)), between: int(quantile(s.between, 0.1, 0)),
			waits: int(quantile(s.waits, 0.5, 0))}
		var holds, visits []float64
		for i, n := range s.inside {
			if int(n) == u.inside { // more visits: it has released the lock meanwhile, and taken it again
				holds, visits = append(holds, s.length[i]), append(visits, s.visit[i])
			}
		}
		all[at.object] = append(all[at.object], holds...)
		if len(holds) >= enoughHolds {
			u.hold, u.visit = quantile(holds, 0.5, 0), quantile(visits, 0.5, 0)
			u.counted = u.inside+u.between > 0
		}
		found[at] = u
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
		if l.fair = m.mentions(m.usualPlace(lists[o], func(w *wait) int32 { return w.place }), goMutex); l.fair {
			m.findStarving(int32(o), lists[o])
		}
	}
	return found
}

// findStarving finds windows in which one of Go's locks was handed over when it was first let go.
func (m *Machine) findStarving(o int32, list []int32) {
	last := int32(recording.No)
	for _, n := range list {
		if w := &m.waits[n]; w.window != last {
			last = w.window
			at := &m.windows[last].starving
			if w.handed && !slices.Contains(*at, o) {
				*at = append(*at, o)
			}
		}
	}
}

// observe looks at what threads do between their operations at locks.
func (m *Machine) observe() (map[meeting]*observed, []meeting) {
	seen := map[meeting]*observed{}
	var order []meeting
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			p := newProgram(m, e)
			last := map[int32]int{} // the last operation
			for k, a := range e.actions {
				o, acquires := m.lockOf(a)
				if m.letsGo(a) {
					maps.DeleteFunc(last, func(_ int32, k int) bool { return e.actions[k].deed == doWait })
				}
				if o < 0 {
					continue
				}
				at := meeting{o, e.thread}
				s := seen[at]
				if s == nil {
					s = &observed{}
					seen[at] = s
					order = append(order, at)
				}
				if before, ok := last[o]; ok {
					_, acquired := m.lockOf(e.actions[before])
					n := float64(len(p.visitsIn(before, k)))
					switch {
					case acquired && !acquires:
						s.length = append(s.length, p.ran[k]-p.ran[before])
						s.inside = append(s.inside, n)
						s.waits = append(s.waits, float64(m.outsideWaits(e.actions[before+1:k])))
						s.visit = append(s.visit, p.nearest(before, k, n > 0))
					case !acquired && acquires:
						s.between = append(s.between, n)
					}
				}
				last[o] = k
			}
		}
	}
	return seen, order
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
	if w.object < 0 || !m.locks[w.object].is || w.ends != byWake && w.ends != never {
		return recording.No, false
	}
	return w.object, a.deed == doWait
}

// outsideWaits counts the waits that something outside ended.
func (m *Machine) outsideWaits(actions []action) (n int) {
	for _, a := range actions {
		if m.isOutside(a) {
			n++
		}
	}
	return n
}

func (m *Machine) isOutside(a action) bool {
	return a.deed == doWait && m.waits[a.of].ends != byWake && m.waits[a.of].ends != never
}

// letsGo reports whether an entity waits for another one to tell it something: it holds no lock meanwhile. A condition
// releases its lock, and other waits of this kind while a lock is held are asking for a deadlock.
func (m *Machine) letsGo(a action) bool {
	if a.deed != doWait {
		return a.deed == doTake
	}
	w := &m.waits[a.of]
	return w.object >= 0 && !m.locks[w.object].is && (w.ends == byWake || w.ends == never)
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
func (m *Machine) writeLocks(h map[meeting]uses, hidden bool) float64 {
	all, missing := 0.0, 0.0
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			if slices.ContainsFunc(e.actions, func(a action) bool { o, _ := m.lockOf(a); return o >= 0 }) {
				p := newProgram(m, e)
				for o := range m.locks {
					if m.locks[o].is {
						u := h[meeting{int32(o), e.thread}]
						if u.hold == 0 {
							u.hold = m.locks[o].hold
						}
						p.write(int32(o), &u)
						n := p.hidden(&u)
						if hidden && u.counted {
							p.writeCounted(int32(o), &u)
						} else if hidden {
							p.writeHidden(int32(o), u.hold, int(n+0.5))
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

// program is an entity's program while operations of locks are written into it.
type program struct {
	m       *Machine
	actions []action
	ran     []float64 // by action: what the entity has run before
	total   float64
	visits  []int // the actions that are visits
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
	for i, a := range e.actions {
		p.ran = append(p.ran, p.total)
		switch a.deed {
		case doRun:
			p.total += m.segments[a.of].length
		case doVisit:
			p.visits = append(p.visits, i)
		}
	}
	return p
}

// visitsIn returns the visits between two actions.
func (p *program) visitsIn(low, high int) []int {
	from, _ := slices.BinarySearch(p.visits, low)
	to, _ := slices.BinarySearch(p.visits, high)
	return p.visits[from:max(from, to)]
}

// nearest returns how long the entity runs from a release to its visit: the last one since the acquisition if there are
// some, the next one otherwise.
func (p *program) nearest(acquired, released int, inside bool) float64 {
	if v := p.visitsIn(acquired, released); inside {
		return p.ran[v[len(v)-1]] - p.ran[released]
	}
	if v := p.visitsIn(released, len(p.actions)); len(v) > 0 {
		return p.ran[v[0]] - p.ran[released]
	}
	return 0
}

// write writes the operations of one lock. An acquisition that nobody had to wait for, and a release that woke nobody,
// are not in the recording: they are written where the other half says that they were.
func (p *program) write(o int32, u *uses) {
	hold := u.hold
	p.acquired, p.released, p.both, p.gaps = 0, 0, 0, p.gaps[:0]
	free, freeAt := 0.0, 0 // the end of the last hold, and the action after it
	held, from, acquired := false, 0.0, 0
	last := math.Inf(-1)     // the last release
	floors := []mark{{0, 0}} // the last wait, or release; behind it the waits for something outside
	for i, a := range p.actions {
		if a.deed == doWait {
			floors = p.waited(floors, i)
		}
		of, acquires := p.m.lockOf(a)
		if of == o && !acquires && held && u.counted && len(p.visitsIn(acquired, i)) > u.inside {
			// It has released the lock unseen, and taken it again.
			free, freeAt = math.Min(from+hold, p.ran[i]), acquired
			p.insert(free, acquired, i, action{doRelease, o})
			floor := floors[len(floors)-1]
			held, last = false, free
			floors = append(floors[:0], mark{math.Max(floor.ran, free), max(floor.at, acquired)})
		}
		if held && p.m.letsGo(a) {
			free, freeAt = math.Min(from+hold, p.ran[i]), i
			p.insert(free, acquired, i, action{doRelease, o})
			held, last = false, free
		}
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
		case !held && p.ran[i]-last < hold/10:
			p.actions[i] = action{deed: doNothing} // one release that woke several
		default:
			if held {
				p.both++
			} else {
				p.gaps = append(p.gaps, gap{free, p.writeAcquire(o, u, i, floors), freeAt, i})
			}
			p.actions[i] = action{doRelease, o}
			p.released++
			free, freeAt, held, last = p.ran[i], i+1, false, p.ran[i]
			floors = append(floors[:0], mark{p.ran[i], i + 1})
		}
	}
	if held && from+hold < p.total {
		p.insert(from+hold, acquired, len(p.actions), action{doRelease, o})
	}
}

// mark is what an entity has run before a moment, and the action after it.
type mark struct {
	ran float64
	at  int
}

// waited adds a wait to floors. One that another thread ended is the last of them.
func (p *program) waited(floors []mark, i int) []mark {
	if !p.m.isOutside(p.actions[i]) {
		floors = floors[:0]
	}
	return append(floors, mark{p.ran[i], i + 1})
}

// writeAcquire writes the acquisition that belongs to a release: as long before as the lock is held, but not before the
// last of floors. The waits that belong into a hold are in it.
func (p *program) writeAcquire(o int32, u *uses, release int, floors []mark) (ran float64) {
	n := len(floors) - 1
	k := min(u.waits, n)
	floor, high := floors[n-k], release
	ran = p.ran[release] - u.hold
	if k > 0 {
		first := floors[n-k+1]
		ran, high = math.Min(ran, first.ran), first.at-1
	}
	ran = math.Max(ran, floor.ran)
	p.insert(ran, floor.at, high, action{doAcquire, o})
	return ran
}

// seen returns how many holds are in the recording, at least with one of their operations.
func (p *program) seen() float64 {
	return p.acquired + p.released - p.both
}

// hidden returns about how many holds are not in the recording at all: nobody waited before them or meanwhile. It is
// the estimate of Lincoln and Petersen, which counts animals by catching them twice: if whether a hold begins with a
// wait says nothing about whether others wait at its end, the share of releases with a known acquisition is that of
// all holds. Where visits tell, they are counted.
func (p *program) hidden(u *uses) float64 {
	if u.counted {
		n := 0
		for _, g := range p.gaps {
			n += max(0, len(p.visitsIn(g.low, g.high))-u.between)
		}
		return float64(n)
	}
	if p.both < enoughHolds {
		return 0
	}
	return p.acquired*p.released/p.both - p.seen()
}

// writeCounted writes holds that are not in the recording, as visits tell: one for each that belongs to no known
// release.
func (p *program) writeCounted(o int32, u *uses) {
	for _, g := range p.gaps {
		v := p.visitsIn(g.low, g.high)
		end := g.from
		for _, i := range v[min(len(v), u.between):] {
			released := p.ran[i] - u.visit
			acquired := math.Max(end, released-u.hold)
			if released <= acquired || released > g.to {
				continue
			}
			p.insert(acquired, g.low, g.high, action{doAcquire, o})
			p.insert(released, g.low, g.high, action{doRelease, o})
			end = released
		}
	}
}

// writeHidden writes n holds that are not in the recording. They are in the longest gaps: a gap of c or more has one,
// of 2c two; c such that there are n.
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
		done, begin := 0.0, edge{}
		for ; next < len(p.inserts) && p.inserts[next].at == i; next++ {
			in := p.inserts[next]
			end := edge{edgeAcquire, in.action.of}
			switch in.action.deed {
			case doRelease:
				end.kind = edgeRelease
			case doWait:
				end = edge{edgeWait, p.m.waits[in.action.of].place}
			}
			out = p.part(out, i, piece{from: done, to: in.offset, begin: begin, end: end})
			done, begin = math.Max(done, in.offset), end
			out = append(out, in.action)
		}
		if i == len(p.actions) {
			break
		}
		switch a := p.actions[i]; {
		case a.deed == doNothing:
		case a.deed == doRun && begin != edge{}:
			s := &p.m.segments[a.of]
			out = p.part(out, i, piece{from: done, to: s.length, begin: begin, end: s.end})
		default:
			out = append(out, a)
		}
	}
	return out
}

// piece is a part of a segment between operations of locks.
type piece struct {
	whole, part int32 // the segments
	from, to    float64
	begin, end  edge
}

// part appends a part of a run.
func (p *program) part(out []action, i int, c piece) []action {
	if c.to <= c.from {
		return out
	}
	c.whole, c.part = p.actions[i].of, int32(len(p.m.segments))
	s := p.m.segments[c.whole]
	if c.begin == (edge{}) {
		c.begin = s.begin
	}
	if c.from > 0 {
		s.before = 0 // that is the first part's
	}
	s.meanwhile *= (c.to - c.from) / s.length
	s.cost *= (c.to - c.from) / s.length
	s.begin, s.end, s.length = c.begin, c.end, c.to-c.from
	p.m.segments = append(p.m.segments, s)
	p.m.pieces = append(p.m.pieces, c)
	return append(out, action{doRun, c.part})
}

// sortSamples gives the samples of segments that were divided to their parts.
func (m *Machine) sortSamples() {
	of := map[int32][]piece{}
	for _, c := range m.pieces {
		of[c.whole] = append(of[c.whole], c)
	}
	for i := range m.samples {
		s := &m.samples[i]
		list := of[s.segment]
		for k, c := range list {
			if s.at < c.to || k == len(list)-1 {
				s.segment = c.part
				break
			}
		}
	}
	m.pieces = nil
}
