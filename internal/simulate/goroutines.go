package simulate

import "whatif/internal/recording"

// Goroutines run on threads, which hand them to each other without a word to the kernel. A thread that runs
// goroutines has no program of its own: what it does while it runs a goroutine is the goroutine's, and what it does
// to find one is part of how long it takes until the goroutine runs. So goroutines get the simulated cores as threads
// do.

// subject returns the entity that a thread works for: the goroutine that it runs, or itself.
func (b *builder) subject(thread int32) int32 {
	if t := &b.tracks[thread]; t.carries && t.goroutine >= 0 {
		return t.goroutine
	}
	return thread
}

// runs takes in that a thread begins to run a goroutine, or none.
func (b *builder) runs(e *recording.Event, now int64) {
	t := &b.tracks[b.met(e.Thread, e.CPU, now)]
	if e.Other == t.goroutine {
		return
	}
	if g := t.goroutine; g >= 0 {
		b.put(g, e.Thread, now)
		t.gave = g
		b.tracks[g].ready = now // until it parks, it can run
		if e.Condition == recording.Ended {
			b.over(g, now)
		}
	}
	if e.Other < 0 {
		return
	}
	b.known(e.Other, now, first(now))
	g := &b.tracks[e.Other]
	if g.carrier >= 0 { // another thread had it: the event is missing that took it away
		b.put(e.Other, g.carrier, now)
	}
	if g.wait >= 0 {
		b.unseen(e.Other, now)
	}
	found := now
	if left := t.left; left >= 0 && !g.idle {
		found = min(now, max(left, g.ready)) // the thread went from one to the next: that is work
	}
	if g.last >= 0 && t.gave >= 0 {
		b.m.waits[g.last].handed = b.m.waits[g.last].waker == t.gave
	}
	t.goroutine, g.carrier, t.gave = e.Other, e.Thread, recording.No
	g.owed, t.owed = g.owed+t.owed, 0
	b.started(e.Other, t.core, found)
	b.tracks[e.Other].running = t.running
}

// put takes a goroutine off the thread that runs it.
func (b *builder) put(g, thread int32, now int64) {
	b.stop(g, now)
	b.tracks[g].carrier = recording.No
	t := &b.tracks[thread]
	t.goroutine, t.left = recording.No, now
}

// park takes in that a goroutine waits.
func (b *builder) park(e *recording.Event, now int64) {
	g := b.known(e.Thread, now, first(now))
	if g.wait >= 0 {
		return
	}
	if g.carrier >= 0 {
		b.tracks[g.carrier].gave = recording.No
		b.put(e.Thread, g.carrier, now)
	} else if c := b.core(e.CPU); c >= 0 && b.cores[c].thread >= 0 {
		// It has run there since before the window, or since an event that is missing.
		if t := &b.tracks[b.cores[c].thread]; t.carries && t.goroutine < 0 {
			b.started(e.Thread, c, max(t.since, t.left))
			b.stop(e.Thread, now)
			t.left = now
		}
	}
	b.beginWait(e.Thread, now, e.Place, e.Object)
}
