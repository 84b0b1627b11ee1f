package recording

// A guesser guesses fields of the next event from the events before it, in the order of the file: a thread does again
// what it did last time. What is written is the difference, which is mostly nothing. How it guesses is part of the
// format. It may be asked for threads and places that do not exist, as a file is checked after it was read.
type guesser struct {
	runs    []int32 // by core, the thread that it runs; the first is that of the core that is not known
	threads []habits
	nobody  habits // of threads that do not exist
}

// habits are where a thread waited last, at what, and where it was when it woke another.
type habits struct{ place, object, wakesAt int32 }

// guessed are the fields that are guessed.
type guessed struct{ thread, place, object int32 }

func newGuesser(threads int) *guesser { return &guesser{threads: make([]habits, threads)} }

// thread guesses the thread of an event of which the other fields are known, but those below.
func (g *guesser) thread(e *Event) int32 { return *g.core(e) }

func (g *guesser) core(e *Event) *int32 {
	cpu := int(e.CPU) + 1
	for len(g.runs) <= cpu {
		g.runs = append(g.runs, No)
	}
	return &g.runs[cpu]
}

func (g *guesser) of(thread int32) *habits {
	if thread < 0 || int(thread) >= len(g.threads) {
		return &g.nobody
	}
	return &g.threads[thread]
}

// place guesses the place and the object, when the thread is known.
func (g *guesser) place(e *Event) (place, object int32) {
	switch {
	case waits(e):
		h := g.of(e.Thread)
		return h.place, h.object
	case wakes(e):
		return g.of(e.Thread).wakesAt, g.of(e.Other).object
	}
	return No, No
}

// waits says whether the thread of an event waits from now on.
func waits(e *Event) bool {
	return e.Kind == Park || (e.Kind == State || e.Kind == Switch) && e.Condition == Waiting
}

// wakes says whether a thread wakes another.
func wakes(e *Event) bool { return e.Kind == Ready || e.Kind == Wake && e.Cause == ByThread }

// learn takes in an event of which all is known.
func (g *guesser) learn(e *Event) {
	switch {
	case e.Kind == Switch:
		*g.core(e) = e.Other
	case e.Kind == State && e.Condition == Running:
		*g.core(e) = e.Thread
	}
	switch {
	case waits(e):
		h := g.of(e.Thread)
		h.place, h.object = e.Place, e.Object
	case wakes(e):
		g.of(e.Thread).wakesAt = e.Place
	}
}
