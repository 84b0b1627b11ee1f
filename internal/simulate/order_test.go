package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// TestOddPlace: a thread is taken to wait at another place than it does, once.
func TestOddPlace(t *testing.T) {
	tape := atBarrier(0)
	tape.Frames[1].Function = "pthread_barrier_wait"
	tape.Frames = append(tape.Frames, recording.Frame{Function: "mutex_unlock"})
	tape.Stacks = append(tape.Stacks, recording.Stack{2})
	tape.Places = append(tape.Places, recording.Place{Stack: 2, Address: 2})
	for i := range tape.events {
		if e := &tape.events[i]; e.Kind == recording.Switch && e.Condition == recording.Waiting {
			e.Place = 2
			break
		}
	}
	m := tape.machine(t, 299.9)
	if m.locks[atLock].is {
		t.Error("a barrier is taken for a lock")
	}
	want(t, m, tape.unit(0), 0, 0.1, 25, 33.33, 33.33, 33.33)
}

// TestAsked: clients wait to be heard, all at one object, and then for the answer. The client that is heard gets it.
func TestAsked(t *testing.T) {
	const clients, hears = 3, 0
	tape := newTape(1+clients, 1+clients, 1, 1+clients)
	tape.Objects = nil
	for i := range 2 + clients { // hears, one for each client's answers, and requests
		tape.Objects = append(tape.Objects, recording.Object{Kind: recording.Channel, Address: uint64(1 + i)})
	}
	const requests = 1 + clients
	tape.state(0, 0, recording.Running, recording.No)
	for c := 1; c <= clients; c++ {
		tape.state(c, c, recording.Running, recording.No)
	}
	r := rand.New(rand.NewPCG(3, 4))
	comes := []float64{0, 0.2, 0.5, 0.9} // by client
	waits := make([]bool, 1+clients)
	free := 0.0
	for range 300 {
		c := 1
		for k := 2; k <= clients; k++ {
			if comes[k] < comes[c] {
				c = k
			}
		}
		at := comes[c]
		if waits[c] = at < free; waits[c] {
			tape.pause(at, c, c, 1, hears)
			at = free
			tape.resume(at, c, 0, c, hears)
		} else {
			tape.pause(free, 0, 0, 0, requests)
			tape.resume(at, 0, c, 0, requests)
		}
		tape.pause(at+0.01, c, c, 2, c)
		free = at + 0.5
		tape.work(at, free, 0, 0)
		tape.resume(free, c, 0, c, c)
		tape.visit(free, c, 0)
		comes[c] = free + 0.2 + 1.2*r.Float64()
		tape.work(free, comes[c], c, c)
	}
	m := tape.machine(t, free)
	faithful(t, m)
	if m.pools > 0 {
		t.Error("any client is taken to get the answer")
	}
	for _, by := range []float64{0.3, 0.6, 0.9} {
		if o := m.Run(Change{Faster: []Faster{{Unit: tape.unit(0), By: by}}}); !m.Understood(o) {
			t.Errorf("%.0f%% faster: all wait for each other", 100*by)
		}
	}
}

// TestGoMutex: four goroutines share a lock. Each waits for it for longer than 1 ms, but when it is woken the lock is
// free. So it is not handed over: the goroutine that let it go works on, and the next one runs on another thread.
func TestGoMutex(t *testing.T) {
	tape := goTape()
	for k := range 200 {
		at, thread, g := 0.6*float64(k), k%2, 2+k%4
		run := blank(recording.Run, thread, g)
		run.CPU = int16(thread)
		tape.add(at, run)
		tape.work(at, at+0.5, thread, 0)
		tape.ready(at+0.5, g, 2+(k+1)%4, atLock)
		tape.visit(at+0.5, thread, 0)
		tape.work(at+0.5, at+0.8, thread, 2)
		park := blank(recording.Park, g, recording.No)
		park.Object, park.Place, park.CPU = atLock, 1, int16(thread)
		tape.add(at+0.8, park)
	}
	m := tape.machine(t, 119.9)
	if !m.locks[atLock].is || !m.locks[atLock].fair {
		t.Errorf("the object is not taken for Go's lock: %v", m.doubts)
	}
	want(t, m, tape.unit(0), 0, 4, 21, 42)
}

// goTape is a recording of four goroutines on two threads that share a lock. The first one is about to take it.
func goTape() *tape {
	tape := newTape(2, 6, 1, 3)
	tape.Frames[1].Function = "sync.(*Mutex).Lock"
	tape.Objects[atLock].Kind = recording.Channel
	for i := range 2 {
		tape.state(i, i, recording.Running, recording.No)
	}
	for g := 2; g < 6; g++ {
		tape.Threads[g].Goroutine = true
		if g == 2 {
			tape.state(g, recording.No, recording.Runnable, recording.No)
		} else {
			tape.state(g, recording.No, recording.Waiting, atLock)
		}
	}
	return tape
}

// TestStarving: the same, but the lock is handed over from the window's begin on: own work goes to the
// other thread.
func TestStarving(t *testing.T) {
	tape := goTape()
	for k := range 200 {
		at, g, next := 0.51*float64(k), 2+k%4, 2+(k+1)%4
		tape.add(at, blank(recording.Run, 0, g))
		tape.work(at, at+0.5, 0, 0)
		tape.ready(at+0.5, g, next, atLock)
		off := blank(recording.Run, 0, recording.No)
		off.Condition = recording.Runnable
		tape.add(at+0.505, off)
		run := blank(recording.Run, 1, g)
		run.CPU = 1
		tape.add(at+0.53, run)
		tape.visit(at+0.53, 1, 0)
		tape.work(at+0.53, at+0.83, 1, 2)
		park := blank(recording.Park, g, recording.No)
		park.Object, park.Place, park.CPU = atLock, 1, 1
		tape.add(at+0.83, park)
	}
	m := tape.machine(t, 101.9)
	if !m.locks[atLock].is || !slices.Contains(m.windows[0].starving, int32(atLock)) {
		t.Errorf("the lock is not taken to be handed over: %v", m.doubts)
	}
	if d := m.Check(); d.Points[0] < -0.05 || d.Points[0] > 0.05 || d.Stalls > 0 {
		t.Errorf("%.1f%% off, %d stalls", 100*d.Points[0], d.Stalls)
	}
}

// TestMidmean: of two kinds of values it is between them.
func TestMidmean(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{7}, 7}, {[]float64{120, 20, 20, 120}, 70}, {[]float64{1, 2, 3, 1e9}, 2.5}} {
		if got := midmean(c.x); got != c.want {
			t.Errorf("%v: %g, want %g", c.x, got, c.want)
		}
	}
}
