package simulate

import (
	"cmp"
	"math"
	"slices"

	"whatif/internal/recording"
)

// urge is how often a thread that something outside had woken, while others had the cores, took one at once, and how
// often it had to wait.
type urge struct {
	atOnce, later float64
}

// share returns how often it got one at once; No: too few are known.
func (u urge) share() float64 {
	if u.atOnce+u.later < fewStints {
		return recording.No
	}
	return u.atOnce / (u.atOnce + u.later)
}

// soonest is within how many ns a thread has a core that takes it from another one: some microseconds. One that has to
// wait does so until a tick of the kernel's clock, unless the other thread happens to give the core up.
const soonest = 1e5

// coreTrack is what a core does at a moment of the recording.
type coreTrack struct {
	thread  int32
	since   int64
	stints  []stint // of strangers
	counted int64   // until when stints have kept threads from the core
	holder  int32   // the target's thread that has it, also while a stranger interrupts; No: it waits, or is over
	held    int64   // since when
	ran     int64   // how much the holder had run in the window then
}

// stint is a stretch of time.
type stint struct {
	from, to int64
}

// stay is how long a thread kept a core, in ns that it ran.
type stay struct {
	ran  float64
	lost bool // it lost the core to another thread; otherwise it waited, and might have kept the core for longer
}

// core returns the number of a core in the machine.
func (b *builder) core(cpu int16) int32 {
	if i, ok := slices.BinarySearch(b.m.cpus, cpu); ok {
		return int32(i)
	}
	return recording.No
}

// allowed returns which of the machine's cores a thread may run on; nil: all.
func (b *builder) allowed(cpus []int16) []bool {
	if len(cpus) == 0 {
		return nil
	}
	list := make([]bool, len(b.m.cpus))
	n := 0
	for _, cpu := range cpus {
		if c := b.core(cpu); c >= 0 && !list[c] {
			list[c] = true
			n++
		}
	}
	if n == 0 || n == len(list) {
		return nil
	}
	return list
}

// start lets an entity run, on a core.
func (b *builder) start(thread, core int32, now int64) {
	t := &b.tracks[thread]
	t.running, t.core, t.since = true, core, now
	if t.carries {
		if g := t.goroutine; g >= 0 {
			b.started(g, core, now)
		}
		return
	}
	b.started(thread, core, now)
}

// started is what a start means for the program: its wait for a core is over.
func (b *builder) started(s, core int32, now int64) {
	t := &b.tracks[s]
	now = max(now, t.ready) // repaired events may say that it ran sooner
	t.running, t.since, t.core = true, now, core
	if e := &b.w.entities[t.entity]; e.begins == unborn && e.core < 0 {
		e.core = core // it is made there, unless another core is idle
	}
	if t.ready >= 0 {
		stolen := int64(0)
		if core >= 0 {
			stolen = b.steal(t, core, now)
		}
		b.was.Waited[recording.CPU] += now - t.ready - stolen
		if t.last >= 0 && stolen > 0 {
			b.m.waits[t.last].latency = now - t.ready - stolen
		}
		if t.last >= 0 {
			b.m.waits[t.last].ran = now
		}
		if u := &b.urges[s]; t.last >= 0 && !t.idle && stolen == 0 && b.m.waits[t.last].ends != byWake {
			switch waited := now - t.ready; {
			case waited >= soonest:
				u.later++
			case b.takes:
				u.atOnce++
			}
		}
		if t.last >= 0 && t.idle {
			w := &b.m.waits[t.last]
			w.latency = now - t.ready
			cause := w.cause
			if b.m.rec.Threads[s].Goroutine {
				cause = byGoroutine
			}
			b.latencies[cause] = append(b.latencies[cause], float64(w.latency))
		}
	}
	t.ready, t.last, t.idle = recording.No, recording.No, false
}

// stop takes an entity off its core.
func (b *builder) stop(s int32, now int64) {
	t := &b.tracks[s]
	b.advance(t, now)
	t.running = false
}

// over takes in that an entity has ended.
func (b *builder) over(s int32, now int64) {
	b.cut(s, now, edge{edgeEnd, recording.No}, action{deed: doNothing})
	b.tracks[s].ready, b.tracks[s].over = recording.No, now
	b.ended(s)
}

// preempted learns from a thread that lost its core to another one, how long threads keep cores.
func (b *builder) preempted(c, other int32, now int64) {
	o, core := &b.tracks[other], &b.cores[c]
	if core.holder < 0 {
		return
	}
	ran := float64(b.total(core.holder, now) - core.ran)
	switch {
	case o.ready < 0:
	case o.ready <= core.held:
		b.slices = append(b.slices, stay{ran, true})
	case o.last >= 0:
		b.protects = append(b.protects, ran)
	}
}

// gaveUp takes in that the thread that had a core does not want it any more. Another one may have wanted it all the
// time.
func (b *builder) gaveUp(c, other int32, now int64) {
	core := &b.cores[c]
	if core.holder >= 0 && other >= 0 && b.tracks[other].ready >= 0 && b.tracks[other].ready <= core.held {
		b.slices = append(b.slices, stay{ran: float64(b.total(core.holder, now) - core.ran)})
	}
	core.holder = recording.No
}

// median returns how long half of the threads keep a core that others want, if they want it for so long; NaN if too few
// lost it. It is the estimate of Kaplan and Meier (1958): a thread that gave its core up would have lost it later.
func median(stays []stay) float64 {
	slices.SortFunc(stays, func(a, b stay) int { return cmp.Compare(a.ran, b.ran) })
	keep, lost, at := 1.0, 0, math.NaN()
	for i, s := range stays {
		if !s.lost {
			continue
		}
		lost++
		keep *= 1 - 1/float64(len(stays)-i)
		if keep <= 0.5 && math.IsNaN(at) {
			at = s.ran
		}
	}
	if lost < fewStints {
		return math.NaN()
	}
	return at
}

// holds takes in that a thread of the target has a core. If only strangers had it meanwhile, it has had it all the
// time.
func (b *builder) holds(c, thread int32, now int64) {
	if core := &b.cores[c]; core.holder != thread {
		core.holder, core.held, core.ran = thread, now, b.total(thread, now)
	}
}

// come takes in the half of a switch that brings a thread to its core.
func (b *builder) come(e *recording.Event, now int64) {
	c := b.core(e.CPU)
	if c >= 0 {
		b.cores[c].thread = e.Other
		b.cores[c].since = now
	}
	if e.Other < 0 {
		return
	}
	begins := first(now)
	t := b.known(e.Other, now, begins)
	b.unseen(e.Other, now)
	if t.running { // the event is missing that took it off its core
		b.stop(b.subject(e.Other), now)
	}
	if s := b.subject(e.Other); e.Thread == recording.Idle {
		b.tracks[s].idle = b.tracks[s].last >= 0
	} else if !b.m.rec.Threads[s].Goroutine {
		b.tracks[s].idle = false
	}
	b.takes = e.Thread >= 0 && e.Condition == recording.Runnable
	b.start(e.Other, c, now)
	b.takes = false
	if c >= 0 {
		b.holds(c, e.Other, now)
	}
}

// stranger takes in that a thread which is not of the target leaves a core.
func (b *builder) stranger(c int32, now int64) {
	if core := &b.cores[c]; now > core.since {
		core.stints = append(core.stints, stint{core.since, now})
	}
}

// steal books the time that strangers kept an entity from its core. It is a part of the segment: strangers come
// between a thread and its core where it is woken, and, the longer it runs, the more often. What strangers do while no
// thread wants their core is not simulated: they fill the gaps that the target leaves, wherever these are. The first
// thread to get the core bears all; the others wait for that one.
func (b *builder) steal(t *track, c int32, now int64) int64 {
	core, sum := &b.cores[c], int64(0)
	from := max(t.ready, core.counted)
	for i := len(core.stints) - 1; i >= 0 && core.stints[i].to > from; i-- {
		sum += max(0, min(now, core.stints[i].to)-max(from, core.stints[i].from))
	}
	core.counted = max(core.counted, now)
	if s := &b.m.segments[t.segment]; t.ran > 0 {
		s.meanwhile += float64(sum)
	} else {
		s.before += float64(sum)
	}
	b.was.Busy += sum
	return sum
}

// anyIdle reports whether a core is idle, or runs a thread that looks for a goroutine.
func (b *builder) anyIdle() bool {
	for c := range b.cores {
		if th := b.cores[c].thread; th == recording.Idle ||
			th >= 0 && b.tracks[th].carries && b.tracks[th].goroutine < 0 {
			return true
		}
	}
	return false
}
