package simulate

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// builder makes the programs of a window from its events.
type builder struct {
	m        *Machine
	w        *window
	no       int32 // of the window
	from     int64 // its begin
	tracks   []track
	cores    []coreTrack
	entities []int32 // threads, by entity: in the order in which they were seen
	begins   map[request]int32
	wakers   map[meeting]progress
	was      *WindowOutcome
	ops      []int32 // waits that other entities ended, in the order of their ends

	urges     []urge // by thread
	takes     bool   // a thread of the target loses its core to the one that starts
	latencies [causes][]float64
	slices    []stay    // how long threads kept a core which others wanted all the time
	protects  []float64 // ns that threads had a core when a thread that had just been woken took it
}

// track is what is known of one thread or goroutine at a moment of the recording.
type track struct {
	entity    int32 // No: not seen yet
	running   bool
	core      int32
	since     int64 // running: since when
	ran       int64 // in the open segment
	total     int64 // in the window
	owed      int64 // ns of what it will run that recording takes
	cost      int64 // ns in the open segment that it has taken
	segment   int32 // the open one
	wait      int32 // that it is in; No
	last      int32 // the wait that ended last, while its owner has not run since; No
	ready     int64 // since when it can run and does not; No
	idle      bool  // it was given to an idle core
	actions   []action
	goroutine int32   // of a thread: what it runs; No
	carrier   int32   // of a goroutine: the thread that runs it; No
	carries   bool    // a thread that runs goroutines in this window
	gave      int32   // of such a thread: the goroutine that it last stopped to run although that could go on; No
	left      int64   // of such a thread: when its last goroutine left it; No if the thread has waited since
	parent    int32   // the entity that made it in this window; No
	made      int32   // how many it has made since it last waited, or visited a point
	children  []int32 // that are over, and that it has not waited for
	over      int64   // when it ended
}

// request is what the begin and the end of one latency have in common.
type request struct {
	point   int32
	thread  int32 // if the program does not say a key
	key     uint64
	process int32 // that the key is of
}

// meeting is a thread that waits at an object.
type meeting struct {
	object, thread int32
}

// progress is how much a thread had run when it last ended a wait.
type progress struct {
	thread int32
	total  int64
}

// build makes the programs of all windows. It returns the waits that other entities ended, in order of time.
func build(m *Machine) []int32 {
	b := &builder{m: m, urges: make([]urge, len(m.rec.Threads))}
	m.windows = make([]window, len(m.rec.Windows))
	m.was.Windows = make([]WindowOutcome, len(m.rec.Windows))
	for i := range m.rec.Windows {
		b.window(i)
	}
	for i := range m.windows {
		for j := range m.windows[i].entities {
			e := &m.windows[i].entities[j]
			e.urge = b.urges[e.thread].share()
		}
	}
	for c := range b.latencies {
		m.wakeups[c] = midmean(b.latencies[c])
	}
	known := m.wakeups[:0:0]
	for _, l := range m.wakeups {
		if !math.IsNaN(l) {
			known = append(known, l)
		}
	}
	for c, l := range m.wakeups {
		if math.IsNaN(l) { // causes that were not seen are like those that were
			m.wakeups[c] = quantile(known, 0.5, 0)
		}
	}
	m.slice = defaultSlice
	if s := median(b.slices); !math.IsNaN(s) {
		m.slice = math.Max(s, leastSlice)
	}
	m.protect = m.slice
	if len(b.protects) >= fewStints {
		m.protect = math.Min(m.slice, quantile(b.protects, 0.1, 0))
	}
	return b.ops
}

// window makes the programs of one window.
func (b *builder) window(i int) {
	m, events := b.m, &b.m.rec.Windows[i]
	b.w, b.no, b.from = &m.windows[i], int32(i), events.Begin
	b.w.length = float64(events.End - events.Begin)
	b.was = &m.was.Windows[i]
	b.was.Length = events.End - events.Begin
	b.was.Visits = make([][]Visit, len(m.rec.Points))
	b.begins, b.wakers = map[request]int32{}, map[meeting]progress{}
	b.entities = b.entities[:0]
	b.tracks = make([]track, len(m.rec.Threads))
	for t := range b.tracks {
		b.tracks[t] = track{entity: recording.No, wait: recording.No, last: recording.No, ready: recording.No,
			core: recording.No, parent: recording.No, goroutine: recording.No, carrier: recording.No, left: recording.No,
			gave: recording.No}
	}
	b.cores = make([]coreTrack, len(m.cpus))
	for c := range b.cores {
		b.cores[c].thread, b.cores[c].holder = recording.Idle, recording.No
	}
	for j := range events.Events {
		if e := &events.Events[j]; e.Kind == recording.Run && e.Thread >= 0 {
			b.tracks[e.Thread].carries = true
		}
	}
	for j := range events.Events {
		b.event(&events.Events[j], events.Events[j].Time-b.from)
		b.owe(&events.Events[j])
	}
	b.close(events.End - events.Begin)
}

// event takes in one event.
func (b *builder) event(e *recording.Event, now int64) {
	if e.Thread < 0 && e.Kind != recording.Switch && e.Kind != recording.Wake && e.Kind != recording.Ready {
		return
	}
	switch e.Kind {
	case recording.State:
		b.state(e, now)
	case recording.Switch:
		b.leave(e, now)
		b.come(e, now)
	case recording.Wake:
		b.wake(e, now)
	case recording.Sample:
		if t := &b.tracks[b.subject(b.met(e.Thread, e.CPU, now))]; !t.carries && e.Stack >= 0 {
			at := t.ran
			if t.running {
				at += now - t.since
			}
			b.m.samples = append(b.m.samples, sample{t.segment, e.Stack, float64(at)})
		}
	case recording.Visit:
		b.visit(e, now)
	case recording.Fork:
		b.fork(e, now)
	case recording.Run:
		b.runs(e, now)
	case recording.Park:
		b.park(e, now)
	case recording.Ready:
		b.wake(e, now)
	}
}

// owe takes in what it took to record an event: the core that it happened on was busy with it. Whatever runs there has
// run for so much less.
func (b *builder) owe(e *recording.Event) {
	c := b.core(e.CPU)
	if c < 0 || b.cores[c].thread < 0 {
		return
	}
	ns, costs := int64(0), &b.m.rec.Costs
	switch e.Kind {
	case recording.Switch:
		ns = costs.Switch
	case recording.Wake:
		ns = costs.Wake
	case recording.Sample:
		ns = costs.Sample
	case recording.Visit:
		ns = costs.Visit
	case recording.Run, recording.Park, recording.Ready:
		ns = costs.Goroutine
	}
	b.tracks[b.subject(b.cores[c].thread)].owed += ns
}

// known makes an entity of a thread that was not seen before.
func (b *builder) known(thread int32, start int64, begins condition) *track {
	t := &b.tracks[thread]
	if t.entity < 0 {
		t.entity = int32(len(b.entities))
		b.entities = append(b.entities, thread)
		info := &b.m.rec.Threads[thread]
		e := entity{thread: thread, start: float64(start), begins: begins, core: recording.No, serves: recording.No,
			weight: math.Pow(1.25, -float64(info.Nice)), goroutine: info.Goroutine, allowed: b.allowed(info.Allowed)}
		b.w.entities = append(b.w.entities, e)
		b.open(t, edge{edgeStart, recording.No})
	}
	return t
}

// first returns how an entity begins that is met now for the first time.
func first(now int64) condition {
	if now == 0 {
		return ready
	}
	return outside
}

// met returns a thread that does something on a core. Where the event is missing that brought it there, the thread came
// when the core was last seen to switch.
func (b *builder) met(thread int32, cpu int16, now int64) int32 {
	if b.m.rec.Threads[thread].Goroutine {
		b.known(thread, now, first(now))
		return thread
	}
	b.known(thread, now, first(now))
	t := &b.tracks[thread]
	if t.running {
		return thread
	}
	at, c := now, b.core(cpu)
	if c >= 0 {
		at = max(b.cores[c].since, t.since)
		b.cores[c].thread = thread
	}
	b.unseen(thread, at)
	b.start(thread, c, at)
	return thread
}

// unseen ends a wait whose end was not recorded.
func (b *builder) unseen(thread int32, now int64) {
	s := b.subject(thread)
	if t := &b.tracks[s]; t.wait >= 0 {
		w := &b.m.waits[t.wait]
		b.endWait(s, max(now, w.began), recording.ByStranger, recording.Other)
	}
}

// open begins a segment.
func (b *builder) open(t *track, at edge) {
	t.segment = int32(len(b.m.segments))
	t.ran, t.cost = 0, 0
	b.m.segments = append(b.m.segments, segment{thread: b.entities[t.entity], begin: at})
}

// cut ends the open segment of an entity with an action, and opens the next one.
func (b *builder) cut(s int32, now int64, at edge, do action) {
	t := &b.tracks[s]
	b.advance(t, now)
	if at.kind == edgeWait || at.kind == edgeVisit {
		t.made = 0
	}
	seg := &b.m.segments[t.segment]
	seg.length, seg.cost, seg.end = float64(t.ran), float64(t.cost), at
	if t.ran > 0 || t.cost > 0 || seg.before > 0 {
		t.actions = append(t.actions, action{doRun, t.segment})
	}
	if do.deed != doNothing {
		t.actions = append(t.actions, do)
	}
	b.open(t, at)
}

// advance books what an entity has run.
func (b *builder) advance(t *track, now int64) {
	if t.running {
		d := max(0, now-t.since)
		b.was.Busy += d
		cost := min(d, t.owed)
		d, t.owed, t.cost = d-cost, t.owed-cost, t.cost+cost
		t.ran += d
		t.total += d
	}
	t.since = now
}

// state takes in what a thread does as the window begins.
func (b *builder) state(e *recording.Event, now int64) {
	if e.Condition == recording.Ended {
		return
	}
	begins := [...]condition{runs, ready, waits}[e.Condition]
	t := b.known(e.Thread, now, begins)
	c := b.core(e.CPU)
	b.w.entities[t.entity].core = c
	switch e.Condition {
	case recording.Running:
		if c >= 0 {
			b.cores[c] = coreTrack{thread: e.Thread, since: now, holder: e.Thread, held: now}
		}
		b.start(e.Thread, c, now)
	case recording.Runnable:
		t.ready = now
	case recording.Waiting:
		if !t.carries {
			b.beginWait(e.Thread, now, e.Place, e.Object)
		}
	}
}

// leave takes in the half of a switch that takes a thread off its core.
func (b *builder) leave(e *recording.Event, now int64) {
	c := b.core(e.CPU)
	if e.Thread == recording.Stranger && c >= 0 {
		b.stranger(c, now)
	}
	if e.Thread < 0 {
		return
	}
	b.met(e.Thread, e.CPU, now)
	t, s := &b.tracks[e.Thread], b.subject(e.Thread)
	if c >= 0 && (e.Condition == recording.Waiting || e.Condition == recording.Ended) {
		b.gaveUp(c, e.Other, now)
	}
	if t.carries && t.goroutine < 0 {
		t.running, t.left = false, recording.No // it looks for a goroutine no more
		return
	}
	b.stop(s, now)
	t.running = false
	switch e.Condition {
	case recording.Waiting:
		b.beginWait(s, now, e.Place, e.Object)
	case recording.Ended:
		b.over(s, now)
	default:
		b.tracks[s].ready = now
		if c >= 0 && e.Other >= 0 {
			b.preempted(c, e.Other, now)
		}
	}
}

// beginWait takes in that an entity waits from now on.
func (b *builder) beginWait(s int32, now int64, place, object int32) {
	t := &b.tracks[s]
	n := int32(len(b.m.waits))
	w := wait{owner: t.entity, thread: s, window: b.no, place: place, object: object, waker: recording.No,
		wakeAt: recording.No, began: now, end: now, latency: recording.No, ahead: recording.No, ran: recording.No,
		gate: recording.No, pool: recording.No, server: recording.No}
	if p, ok := b.wakers[meeting{object, s}]; ok && object >= 0 {
		w.ahead = b.total(p.thread, now) - p.total
	}
	b.m.waits = append(b.m.waits, w)
	b.cut(s, now, edge{kind: edgeWait, place: place}, action{doWait, n})
	t = &b.tracks[s]
	t.wait, t.last, t.ready = n, recording.No, recording.No
}

// total returns how much an entity has run in the window.
func (b *builder) total(s int32, now int64) int64 {
	t := &b.tracks[s]
	if t.running {
		return t.total + now - t.since
	}
	return t.total
}

// endWait takes in that an entity need not wait any more.
func (b *builder) endWait(s int32, now int64, cause recording.Cause, class recording.Class) *wait {
	t := &b.tracks[s]
	w := &b.m.waits[t.wait]
	w.end, w.cause, w.class, w.ends = now, cause, class, after
	b.was.Waited[class] += now - w.began
	t.last, t.wait, t.ready = t.wait, recording.No, now
	t.idle = b.m.rec.Threads[s].Goroutine && b.anyIdle()
	return w
}

// wake takes in a wake-up, or that a goroutine is made ready.
func (b *builder) wake(e *recording.Event, now int64) {
	if e.Other < 0 {
		return
	}
	s := b.subject(e.Other)
	t := &b.tracks[s]
	if t.wait < 0 || t.carries {
		return // it did not wait; or a thread is woken to look for goroutines
	}
	n := t.wait
	w := b.endWait(s, now, e.Cause, e.Class)
	if e.Cause != recording.ByThread || e.Thread < 0 {
		return
	}
	by := b.subject(e.Thread)
	if k := &b.tracks[by]; k.entity < 0 || by == s || k.carries {
		return
	}
	w.ends, w.waker, w.by, w.wakeAt = byWake, by, b.tracks[by].entity, e.Place
	if w.object < 0 {
		w.object = e.Object
	}
	w.made = b.total(by, now)
	b.wakers[meeting{w.object, s}] = progress{by, w.made}
	b.ops = append(b.ops, n)
	b.deliver(by, now, e.Place, n)
}

// deliver writes a wake-up into the program of the entity that made it.
func (b *builder) deliver(by int32, now int64, place, n int32) {
	k := &b.tracks[by]
	if k.running {
		b.cut(by, now, edge{kind: edgeWake, place: place}, action{doWake, n})
		return
	}
	// What it sent before it waited has arrived only now.
	last := len(k.actions) - 1
	if k.wait >= 0 && last >= 0 && k.actions[last] == (action{doWait, k.wait}) {
		k.actions = slices.Insert(k.actions, last, action{doWake, n})
		return
	}
	k.actions = append(k.actions, action{doWake, n})
}

// visit takes in a visit to a point.
func (b *builder) visit(e *recording.Event, now int64) {
	if e.Point < 0 {
		return
	}
	s := b.subject(b.met(e.Thread, e.CPU, now))
	if b.tracks[s].carries {
		return
	}
	m, n := b.m, int32(len(b.m.visits))
	v := visit{point: e.Point, role: e.Role, begin: recording.No, time: now, counts: e.Role != recording.Begin}
	latency := int64(recording.No)
	r := request{point: e.Point, thread: s}
	if e.Key != 0 {
		r = request{point: e.Point, key: e.Key, process: m.rec.Threads[e.Thread].Process}
	}
	switch e.Role {
	case recording.Begin:
		b.begins[r] = n
	case recording.End:
		if at, ok := b.begins[r]; ok {
			v.begin = at
			m.visits[at].ends = true
			latency = now - m.visits[at].time
			delete(b.begins, r)
		}
	}
	m.visits = append(m.visits, v)
	if v.counts {
		b.was.Visits[e.Point] = append(b.was.Visits[e.Point], Visit{Time: now, Recorded: now, Latency: latency})
	}
	b.cut(s, now, edge{kind: edgeVisit, place: e.Point}, action{doVisit, n})
}

// fork takes in that a thread or goroutine makes another one.
func (b *builder) fork(e *recording.Event, now int64) {
	if e.Other < 0 || b.tracks[e.Other].entity >= 0 {
		return
	}
	s := b.subject(b.met(e.Thread, e.CPU, now))
	if b.tracks[s].carries || b.tracks[e.Other].carries {
		return
	}
	t := b.known(e.Other, now, unborn)
	t.ready, t.parent = now, s
	b.m.segments[t.segment].begin = born(e.Place, b.tracks[s].made)
	b.tracks[s].made++
	b.cut(s, now, edge{kind: edgeFork, place: e.Place}, action{doFork, t.entity})
}

// close ends the window.
func (b *builder) close(now int64) {
	for i, thread := range b.entities {
		t := &b.tracks[thread]
		e := &b.w.entities[i]
		if t.carries { // its time is that of its goroutines
			t.actions = nil
		} else {
			running := t.running
			b.cut(thread, now, edge{edgeStart, recording.No}, action{deed: doNothing})
			e.cut = running || t.ready >= 0 && !e.goroutine
		}
		e.actions = t.actions
	}
}
