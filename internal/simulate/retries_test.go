package simulate

import (
	"testing"

	"whatif/internal/recording"
)

// One thread works for 3 ms and signals; another one waits for that with a timeout of 0.8 ms, looks, and waits again,
// three times in a round. It then works for 1 ms. The waits are one wait: the timeouts say nothing.
func TestRetries(t *testing.T) {
	tape := newTape(2, 2, 1, 2)
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Waiting, atLock)
	for i := range 100 {
		at := 3 * float64(i)
		tape.work(at, at+3, 0, 0)
		if i > 0 {
			tape.work(at, at+1, 1, 1)
			tape.visit(at+1, 1, 0)
			tape.pause(at+1, 1, 1, 1, atLock)
		}
		for k := range 2 {
			look := at + 1 + 0.8*float64(k+1)
			tape.rings(look, 1, 1)
			tape.pause(look+0.01, 1, 1, 1, atLock)
		}
		tape.resume(at+3, 1, 0, 1, atLock)
	}
	m := tape.machine(t, 299.9)
	want(t, m, tape.unit(0), 0, 1, 25, 50, 66.7, 66.7)
	if len(m.unknown) > 0 {
		t.Errorf("it polls: %v", m.unknown)
	}
}

// A thread that a clock wakes takes the only core from another one, which has just begun its slice, each time. EEVDF
// would let it wait; then its rounds, of a sleep and some work, would be longer than recorded.
func TestUrge(t *testing.T) {
	tape := newTape(1, 2, 2, 2)
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 0, recording.Waiting, recording.No)
	at := 0.0
	for range 100 {
		tape.work(at, at+2, 0, 0)
		tape.visit(at+2, 0, 0)
		e := blank(recording.Wake, recording.No, 1)
		e.Class, e.Cause = recording.Sleep, recording.ByTimer
		tape.add(at+2, e)
		tape.swap(at+2.005, 0, 0, 1, recording.Runnable, recording.No, recording.No)
		tape.work(at+2.005, at+2.905, 1, 1)
		tape.visit(at+2.905, 1, 1)
		tape.swap(at+2.905, 0, 1, 0, recording.Waiting, 1, recording.No)
		at += 2.905
	}
	m := tape.machine(t, at-0.01)
	faithful(t, m)
	// The other thread's work does not delay it.
	if g := gain(m, Change{Faster: []Faster{{Unit: tape.unit(0), By: 0.5}}}, 1); g < -1 || g > 1 {
		t.Errorf("the clock's thread gains %.1f%%, want 0", g)
	}
}

// In each round a goroutine makes two others and waits for both. One works for 1 ms, the other one for 2, and as the
// last one it wakes the first: only the end of the other one says that this was waited for, too.
func TestJoinOfGoroutines(t *testing.T) {
	joinOfGoroutines(t, 1)
}

// Two goroutines take turns, and their WaitGroups are at the same address: that is no queue with two takers.
func TestJoinsAtOneAddress(t *testing.T) {
	joinOfGoroutines(t, 2)
}

// joinOfGoroutines has goroutines that make two others each, in turns, and wait for these.
func joinOfGoroutines(t *testing.T, owners int) {
	t.Helper()
	const rounds, first, atTurn = 60, 2, 1
	tape := newTape(2, first+owners+2*rounds, 1, 2)
	for i := first; i < len(tape.Threads); i++ {
		tape.Threads[i].Goroutine = true
	}
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Running, recording.No)
	tape.state(first, recording.No, recording.Runnable, recording.No)
	for i := 1; i < owners; i++ {
		tape.state(first+i, recording.No, recording.Waiting, atTurn)
	}
	runs := func(ms float64, thread, g int, was recording.Condition) {
		e := blank(recording.Run, thread, g)
		e.CPU, e.Condition = int16(thread), was
		tape.add(ms, e)
	}
	for i := range rounds {
		at, short, long := 2*float64(i), first+owners+2*i, first+owners+1+2*i
		owner, other := first+i%owners, first+(i+1)%owners
		runs(at, 0, owner, recording.Running)
		for _, g := range []int{short, long} {
			tape.add(at, blank(recording.Fork, 0, g))
		}
		tape.park(at, owner, atLock)
		runs(at, 0, short, recording.Running)
		runs(at, 1, long, recording.Running)
		tape.work(at, at+1, 0, 0)
		for ms := at + 0.125; ms < at+2; ms += 0.25 {
			e := blank(recording.Sample, 1, recording.No)
			e.CPU, e.Stack = 1, 1
			tape.add(ms, e)
		}
		runs(at+1, 0, recording.No, recording.Ended)
		tape.ready(at+2, long, owner, atLock)
		runs(at+2, 1, recording.No, recording.Ended)
		runs(at+2, 0, owner, recording.Running)
		tape.visit(at+2, 0, 0)
		if other != owner {
			tape.ready(at+2, owner, other, atTurn)
			tape.park(at+2, owner, atTurn)
		}
	}
	m := tape.machine(t, 2*rounds-0.01)
	want(t, m, tape.unit(1), 0, 1, 25, 50, 50, 50)
	want(t, m, tape.unit(0), 0, 1, 0, 0, 0, 0)
}
