package simulate

import (
	"testing"

	"whatif/internal/recording"
)

// A round has 0.5 ms of work in each of two units. The breakpoint of the visit takes 0.2 ms on top of it, which the
// program does not have without whatif: half of a round of 1 ms can be gained, not of 1.2.
func TestCostOfVisits(t *testing.T) {
	tape := newTape(1, 1, 1, 2)
	tape.Costs.Visit = 2e5
	tape.state(0, 0, recording.Running, recording.No)
	for i := range 200 {
		at := 1.2 * float64(i)
		tape.visit(at, 0, 0)
		tape.work(at+0.2, at+0.7, 0, 0)
		tape.work(at+0.7, at+1.2, 0, 1)
	}
	m := tape.machine(t, 239.9)
	want(t, m, tape.unit(0), 0, 0.6, 12.5, 25, 37.5, 50)
}

// What a goroutine's park and the next one's run took is no work of the next one: two goroutines with 0.4 and 0.6 ms of
// work take turns on one thread.
func TestCostOfGoroutines(t *testing.T) {
	tape := newTape(1, 3, 1, 2)
	tape.Costs.Goroutine = 1e5
	tape.Threads[1].Goroutine, tape.Threads[2].Goroutine = true, true
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, recording.No, recording.Runnable, recording.No)
	tape.state(2, recording.No, recording.Waiting, 1)
	for i := range 100 {
		at := 1.6 * float64(i)
		tape.add(at, blank(recording.Run, 0, 1))
		tape.work(at+0.1, at+0.5, 0, 0)
		tape.ready(at+0.5, 1, 2, 1)
		tape.park(at+0.6, 1, 0)
		tape.add(at+0.7, blank(recording.Run, 0, 2))
		tape.work(at+0.8, at+1.4, 0, 1)
		tape.visit(at+1.4, 0, 0)
		tape.ready(at+1.4, 2, 1, 0)
		tape.park(at+1.5, 2, 1)
	}
	m := tape.machine(t, 159.9)
	want(t, m, tape.unit(0), 0, 1, 10, 20, 30, 40)
}

// park lets a goroutine wait at an object.
func (t *tape) park(ms float64, g, object int) {
	e := blank(recording.Park, g, recording.No)
	e.Object = int32(object)
	t.add(ms, e)
}

// ready lets one goroutine make another one ready.
func (t *tape) ready(ms float64, by, g, object int) {
	e := blank(recording.Ready, by, g)
	e.Object, e.Class = int32(object), recording.Lock
	t.add(ms, e)
}
