package simulate

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"whatif/internal/recording"
)

// atBarrier records two threads with 3 and 2 ms of work between two meetings. The point is visited by one of them.
func atBarrier(visitor int) *tape {
	t := newTape(2, 2, 1, 2)
	t.state(0, 0, recording.Running, recording.No)
	t.state(1, 1, recording.Running, recording.No)
	for i := range 100 {
		at := 3 * float64(i)
		t.work(at, at+3, 0, 0)
		t.work(at, at+2, 1, 1)
		t.pause(at+2, 1, 1, 1, atLock)
		t.resume(at+3, 1, 0, 1, atLock)
		t.visit(at+3, visitor, 0)
	}
	return t
}

func TestBarrier(t *testing.T) {
	for visitor := range 2 {
		tape := atBarrier(visitor)
		tape.Frames[1].Function = "pthread_barrier_wait"
		m := tape.machine(t, 299.9)
		want(t, m, tape.unit(0), 0, 0.1, 25, 33.33, 33.33, 33.33)
		want(t, m, tape.unit(1), 0, 0.1, 0, 0, 0, 0)
		want(t, m, tape.unit(0, 1), 0, 0.6, 25, 50, 75)
	}
}

// One side always waits for the other one, and no name says for what: the other one may be a round ahead.
func TestOneSided(t *testing.T) {
	tape := atBarrier(0)
	m := tape.machine(t, 299.9)
	want(t, m, tape.unit(0), 0, 0.6, 25, 33.3, 33.3, 33.3)
	want(t, m, tape.unit(1), 0, 0.1, 0, 0, 0, 0)
}

// The role of the last one changes: it cannot be a queue.
func TestBarrierOfThree(t *testing.T) {
	tape := newTape(3, 3, 1, 3)
	for i := range 3 {
		tape.state(i, i, recording.Running, recording.No)
	}
	at := 0.0
	for i := range 120 {
		last := i % 3
		for j := range 3 {
			if j == last {
				tape.work(at, at+3, j, j)
				continue
			}
			tape.work(at, at+1, j, j)
			tape.pause(at+1, j, j, j, atLock)
			tape.resume(at+3, j, last, j, atLock)
		}
		tape.visit(at+3, 0, 0)
		at += 3
	}
	m := tape.machine(t, at)
	// Thread 0 is the last in a third of the rounds: the others need 3 ms.
	want(t, m, tape.unit(0), 0, 1.0, 8.3, 16.7, 22.2, 22.2)
	want(t, m, tape.unit(0, 1, 2), 0, 1, 25, 50, 75)
}

func TestIndependent(t *testing.T) {
	tape := newTape(2, 2, 2, 2)
	for i := range 2 {
		tape.state(i, i, recording.Running, recording.No)
		for k := range 200 {
			tape.work(float64(k), float64(k+1), i, i)
			tape.visit(float64(k+1), i, i)
		}
	}
	m := tape.machine(t, 200)
	want(t, m, tape.unit(0), 0, 0.6, 25, 50, 75)
	want(t, m, tape.unit(0), 1, 0.6, 0, 0, 0)
	want(t, m, tape.unit(0, 1), 1, 0.6, 25, 50, 75)
	if g := gain(m, Change{Cores: 1}, 0); math.Abs(g+100) > 3 {
		t.Errorf("one core instead of two: gain %.1f%%, want -100%%", g)
	}
	if g := gain(m, Change{Cores: 4}, 0); math.Abs(g) > 0.6 {
		t.Errorf("four cores instead of two: gain %.1f%%, want 0", g)
	}
}

// Seven threads take turns on two cores, 3 ms each. Of each millisecond, 0.5 are in stack 1.
func TestSevenOnTwoCores(t *testing.T) {
	tape := newTape(2, 7, 2, 2)
	ran := make([]float64, 7)
	next := 0
	var on [2]int
	for c := range on {
		on[c] = next
		tape.state(next, c, recording.Running, recording.No)
		next++
	}
	for i := next; i < 7; i++ {
		tape.state(i, 0, recording.Runnable, recording.No)
	}
	for at := 0.0; at < 2100; at += 3 {
		for c := range on {
			th := on[c]
			for k := range 3 {
				from := at + float64(k)
				tape.work(from, from+0.5, th, 0)
				tape.work(from+0.5, from+1, th, 1)
				tape.visit(from+1-1e-6, th, min(th, 1))
				ran[th]++
			}
		}
		for c := range on {
			n := next % 7
			next++
			tape.swap(at+3, c, on[c], n, recording.Runnable, recording.No, recording.No)
			on[c] = n
		}
	}
	m := tape.machine(t, 2100)
	want(t, m, tape.unit(1), 0, 1.5, 12.5, 25, 37.5, 50)
	want(t, m, tape.unit(1), 1, 1.5, 12.5, 25, 37.5, 50)
}

// A thread works 1 ms, makes two threads that work 4 and 3 ms on two cores, and waits for both.
func TestForkAndJoin(t *testing.T) {
	const rounds = 60
	tape := newTape(2, 1+2*rounds, 1, 3)
	tape.state(0, 0, recording.Running, recording.No)
	for i := range rounds {
		at := 5 * float64(i)
		a, b := 1+2*i, 2+2*i
		tape.work(at, at+1, 0, 0)
		tape.add(at+1, blank(recording.Fork, 0, a))
		tape.add(at+1, blank(recording.Fork, 0, b))
		tape.swap(at+1, 0, 0, a, recording.Waiting, 0, atLock)
		tape.swap(at+1, 1, idle, b, recording.Running, recording.No, recording.No)
		tape.work(at+1, at+5, a, 1)
		tape.work(at+1, at+4, b, 2)
		tape.swap(at+4, 1, b, idle, recording.Ended, recording.No, recording.No)
		tape.wake(at+5, a, 0, atLock)
		tape.swap(at+5, 0, a, 0, recording.Ended, recording.No, recording.No)
		tape.visit(at+5, 0, 0)
	}
	m := tape.machine(t, 5*rounds)
	want(t, m, tape.unit(0), 0, 0.5, 5, 10, 15, 20)
	want(t, m, tape.unit(2), 0, 0.5, 0, 0, 0, 0)
	want(t, m, tape.unit(1), 0, 0.5, 20, 20, 20, 20)
	want(t, m, tape.unit(1, 2), 0, 0.5, 20, 40, 60, 80)
}

// A request goes to and fro through a pipe: 1 ms on one side, 2 on the other.
func TestPingPong(t *testing.T) {
	tape := newTape(2, 2, 1, 2)
	tape.Objects[0].Kind, tape.Objects[1].Kind = recording.Pipe, recording.Pipe
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Waiting, 0)
	for i := range 100 {
		at := 3 * float64(i)
		tape.work(at, at+1, 0, 0)
		tape.resume(at+1, 1, 0, 1, 0)
		tape.pause(at+1, 0, 0, 0, 1)
		tape.work(at+1, at+3, 1, 1)
		tape.resume(at+3, 0, 1, 0, 1)
		tape.pause(at+3, 1, 1, 1, 0)
		tape.visit(at+3, 0, 0)
	}
	m := tape.machine(t, 300)
	want(t, m, tape.unit(0), 0, 0.5, 8.3, 16.7, 25, 33.3)
	want(t, m, tape.unit(1), 0, 0.5, 16.7, 33.3, 50, 66.7)
	if g := gain(m, Change{Cores: 1}, 0); math.Abs(g) > 0.5 {
		t.Errorf("one core instead of two: gain %.1f%%, want 0: only one thread runs at a time", g)
	}
}

// A thread works 1 ms and sleeps 3.
func TestSleep(t *testing.T) {
	tape := newTape(1, 1, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	for i := range 100 {
		at := 4 * float64(i)
		tape.work(at, at+1, 0, 0)
		tape.pause(at+1, 0, 0, 0, recording.No)
		tape.rings(at+4, 0, 0)
		tape.visit(at+4, 0, 0)
	}
	m := tape.machine(t, 400)
	want(t, m, tape.unit(0), 0, 1.1, 6.25, 12.5, 18.75, 25)
	u := Unit{Places: []bool{true}}
	u.Classes[recording.Sleep] = true
	want(t, m, u, 0, 1.1, 18.75, 37.5, 56.25, 75)
	u.Classes[recording.Sleep], u.Classes[recording.Disk] = false, true
	want(t, m, u, 0, 0.1, 0, 0)
}

// A thread works 1 or 2 ms and is woken each 4 ms by a periodic timer.
func TestPeriodicTimer(t *testing.T) {
	tape := newTape(1, 1, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	for i := range 100 {
		at := 4 * float64(i)
		work := 1 + float64(i*i%3)/2
		tape.work(at, at+work, 0, 0)
		tape.pause(at+work, 0, 0, 0, recording.No)
		tape.rings(at+4, 0, 0)
		tape.visit(at+4, 0, 0)
	}
	m := tape.machine(t, 400)
	want(t, m, tape.unit(0), 0, 0.1, 0, 0, 0, 0)
}

// Two threads hold a lock for 3 of 4 ms. There are no names: it could be a barrier.
func TestLock(t *testing.T) {
	tape := newTape(2, 2, 1, 2)
	tape.Places = nil
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Waiting, atLock)
	for i := range 100 {
		at := 3 * float64(i)
		a, b := i%2, 1-i%2 // a has it
		tape.work(at, at+3, a, 0)
		if i > 0 {
			tape.work(at, at+1, b, 1)
			tape.pause(at+1, b, b, recording.No, atLock)
		}
		tape.resume(at+3, b, a, b, atLock)
		tape.visit(at+3, a, 0)
	}
	m := tape.machine(t, 300)
	if !m.locks[atLock].is {
		t.Error("the object is not taken for a lock")
	}
	want(t, m, tape.unit(1), 0, 0.6, 0, 0, 0, 0)
	want(t, m, tape.unit(0), 0, 0.6, 25, 50, 70.8, 83.3)
}

// A giver needs 1 ms, the taker 2. The queue is full nearly always.
func TestQueueIsFull(t *testing.T) {
	tape := newTape(2, 2, 1, 2)
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Running, recording.No)
	for i := range 100 {
		at := 2 * float64(i)
		tape.work(at, at+1, 0, 0)
		tape.pause(at+1, 0, 0, 0, atLock)
		tape.work(at, at+2, 1, 1)
		tape.visit(at+2, 1, 0)
		tape.resume(at+2, 0, 1, 0, atLock)
	}
	m := tape.machine(t, 200)
	want(t, m, tape.unit(1), 0, 1.1, 25, 50, 50, 50)
	want(t, m, tape.unit(0), 0, 0.6, 0, 0, 0, 0)
}

// The giver needs 3 ms, the taker 1: a faster giver is bound by the taker.
func TestQueueIsEmpty(t *testing.T) {
	tape := newTape(2, 2, 2, 2)
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Waiting, atLock)
	for i := range 100 {
		at := 3 * float64(i)
		tape.work(at, at+3, 0, 0)
		tape.visit(at+3, 0, 0)
		tape.resume(at+3, 1, 0, 1, atLock)
		tape.work(at+3, at+4, 1, 1)
		tape.visit(at+4, 1, 1)
		tape.pause(at+4, 1, 1, 1, atLock)
	}
	m := tape.machine(t, 300)
	for point := range 2 {
		want(t, m, tape.unit(0), point, 2.1, 25, 50, 66.7, 66.7)
		want(t, m, tape.unit(1), point, 1.1, 0, 0, 0, 0)
	}
}

// Two workers take jobs of 4 ms from a giver that needs 1 ms for each, and are asked by it before. One core is idle.
func TestPool(t *testing.T) {
	tape := newTape(3, 3, 1, 3)
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Waiting, atLock)
	tape.state(2, 2, recording.Waiting, atLock)
	for i := range 100 {
		at, w := 3*float64(i), 1+i%2
		tape.work(at, at+3, 0, 0)
		tape.resume(at+3, w, 0, w, atLock)
		tape.work(at+3, at+7, w, w)
		tape.visit(at+7, w, 0)
		tape.pause(at+7, w, w, 1, atLock)
	}
	m := tape.machine(t, 300)
	// The giver gives each 3 ms; two workers can take one each 2 ms.
	want(t, m, tape.unit(0), 0, 2.5, 25, 33.3, 33.3, 33.3)
	// One worker alone would take one each 4 ms; with the other one 4 times as fast, none waits for them.
	want(t, m, tape.unit(1), 0, 2.5, 0, 0, 0, 0)
}

// Strangers have a core for a third of the time.
func TestStrangers(t *testing.T) {
	tape := newTape(1, 1, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	for i := range 100 {
		at := 3 * float64(i)
		tape.work(at, at+2, 0, 0)
		tape.visit(at+1, 0, 0)
		tape.visit(at+2, 0, 0)
		tape.swap(at+2, 0, 0, recording.Stranger, recording.Runnable, recording.No, recording.No)
		tape.swap(at+3, 0, recording.Stranger, 0, recording.Running, recording.No, recording.No)
	}
	m := tape.machine(t, 300)
	want(t, m, tape.unit(0), 0, 2, 25, 50, 75)
}

// Goroutines hand work to each other through a channel, on two threads that the kernel sees running all the time.
func TestGoroutines(t *testing.T) {
	tape := newTape(2, 4, 1, 2)
	tape.Objects[0].Kind = recording.Channel
	tape.Threads[2].Goroutine, tape.Threads[3].Goroutine = true, true
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Running, recording.No)
	run := func(ms float64, thread, g int) {
		e := blank(recording.Run, thread, g)
		e.CPU = int16(thread)
		tape.add(ms, e)
	}
	park := func(ms float64, g, cpu int) {
		e := blank(recording.Park, g, recording.No)
		e.Object, e.CPU = 0, int16(cpu)
		tape.add(ms, e)
	}
	run(0, 0, 2)
	run(0, 1, 3)
	for i := range 100 { // 3 ms make an item, 1 ms takes it
		at := 3 * float64(i)
		tape.work(at, at+3, 0, 0)
		tape.work(at, at+1, 1, 1)
		park(at+1, 3, 1)
		e := blank(recording.Ready, 2, 3)
		e.Class = recording.Lock
		tape.add(at+3, e)
		run(at+3, 1, 3)
		tape.visit(at+3, 0, 0)
	}
	m := tape.machine(t, 300)
	want(t, m, tape.unit(0), 0, 1.5, 25, 50, 66.7, 66.7)
	want(t, m, tape.unit(1), 0, 0.6, 0, 0, 0, 0)
}

// Several units at once, and one that gets slower.
func TestTogether(t *testing.T) {
	tape := atBarrier(0)
	tape.Frames[1].Function = "pthread_barrier_wait"
	m := tape.machine(t, 300)
	both := Change{Faster: []Faster{{Unit: tape.unit(0), By: 0.5}, {Unit: tape.unit(1), By: 0.5}}}
	if g := gain(m, both, 0); math.Abs(g-50) > 0.6 {
		t.Errorf("both 50%% faster: gain %.1f%%, want 50%%", g)
	}
	slower := Change{Faster: []Faster{{Unit: tape.unit(1), By: -1}}}
	if g := gain(m, slower, 0); math.Abs(g+33.3) > 0.6 {
		t.Errorf("the shorter side takes twice as long: gain %.1f%%, want -33.3%%", g)
	}
}

// A run does not depend on earlier ones, or on others at the same time.
func TestSameAgain(t *testing.T) {
	tape := atBarrier(0)
	m := tape.machine(t, 300)
	change := func(i int) Change {
		return Change{Faster: []Faster{{Unit: tape.unit(i % 2), By: 0.1 * float64(i%7)}}}
	}
	var alone []Outcome
	for i := range 20 {
		alone = append(alone, m.Run(change(i)))
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 20 {
				if got := m.Run(change(i)); !reflect.DeepEqual(got, alone[i]) {
					t.Errorf("change %d comes out differently", i)
				}
			}
		})
	}
	wait.Wait()
}

func TestRefusesNonsense(t *testing.T) {
	for name, spoil := range map[string]func(*tape){
		"unknown thread": func(t *tape) { t.Windows[0].Events[3].Thread = 77 },
		"unknown stack":  func(t *tape) { t.Windows[0].Events[3].Stack = 77 },
		"no order":       func(t *tape) { t.Windows[0].Events[3].Time = 299e6 },
		"no windows":     func(t *tape) { t.Windows = nil },
	} {
		tape := atBarrier(0)
		tape.machine(t, 300)
		spoil(tape)
		if _, err := New(&tape.Recording); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Four workers stay, and are given jobs of 2, 2, 3 and 4 ms in each round. The thread that gives them waits for all.
func TestLatch(t *testing.T) {
	tape := newTape(5, 5, 1, 5)
	tape.state(0, 0, recording.Running, recording.No)
	work := []float64{0, 2, 2, 3, 4}
	for w := 1; w < 5; w++ {
		tape.state(w, w, recording.Waiting, 1)
	}
	for i := range 60 {
		at := 5 * float64(i)
		tape.work(at, at+1, 0, 0)
		for w := 1; w < 5; w++ {
			tape.resume(at+1, w, 0, w, 1)
			tape.work(at+1, at+1+work[w], w, w)
			if w == 4 {
				tape.resume(at+5, 0, w, 0, 0)
			}
			tape.pause(at+1+work[w], w, w, w, 1)
		}
		tape.pause(at+1, 0, 0, 0, 0)
		tape.visit(at+5, 0, 0)
	}
	m := tape.machine(t, 299)
	want(t, m, tape.unit(4), 0, 0.2, 20, 20, 20, 20)
	want(t, m, tape.unit(3, 4), 0, 0.2, 20, 40, 40, 40)
	want(t, m, tape.unit(1), 0, 0.2, 0, 0, 0, 0)
}

// A lock among four threads on two cores, named by a function. Each holds it for 1 ms and works 2 ms without it, so the
// cores are the limit, until holding it takes longer.
func TestLockOnFewCores(t *testing.T) {
	tape := lockedTape(4, 2, 400)
	m := tape.machine(t, 400)
	if !m.locks[atLock].is {
		t.Fatal("the object is not taken for a lock")
	}
	want(t, m, tape.unit(0), 0, 1.5, 8.3, 16.7, 25, 33.3)
	want(t, m, tape.unit(1), 0, 2.5, 16.7, 33.3)
}

// lockedTape runs threads that work 2 ms, and 1 ms with a lock, on fewer cores, as a scheduler without slices would.
func lockedTape(threads, cores int, end float64) *tape {
	t := newTape(cores, threads, 1, 2)
	t.Frames = append(t.Frames, recording.Frame{Function: "__lll_lock_wait"})
	t.Stacks = append(t.Stacks, recording.Stack{2})
	t.Places = append(t.Places, recording.Place{Stack: 2, Address: 2})
	var ready, locked []int
	holds := make([]bool, threads)
	on, until := make([]int, cores), make([]float64, cores)
	owner := -1
	for i := range threads {
		if i < cores {
			on[i], until[i] = i, 2+float64(i)/8
			t.state(i, i, recording.Running, recording.No)
			t.work(0, until[i], i, 1)
		} else {
			ready = append(ready, i)
			t.state(i, 0, recording.Runnable, recording.No)
		}
	}
	for {
		c := 0
		for k := range cores {
			if on[k] >= 0 && (on[c] < 0 || until[k] < until[c]) {
				c = k
			}
		}
		now, th := until[c], on[c]
		if now >= end {
			return t
		}
		if holds[th] {
			t.visit(now, th, 0)
			holds[th], owner = false, -1
			if len(locked) > 0 {
				owner = locked[0]
				locked = locked[1:]
				t.wake(now, th, owner, atLock)
				ready = append(ready, owner)
				holds[owner] = true
			}
			until[c] = now + 2
			t.work(now, now+2, th, 1)
		} else if owner < 0 {
			owner, holds[th] = th, true
			until[c] = now + 1
			t.work(now, now+1, th, 0)
		} else {
			locked = append(locked, th)
			next := idle
			if len(ready) > 0 {
				next, ready = ready[0], ready[1:]
			}
			t.swap(now, c, th, next, recording.Waiting, 2, atLock)
			on[c] = next
			t.begin(c, next, now, holds, until)
		}
		for k := range cores {
			if on[k] < 0 && len(ready) > 0 {
				on[k], ready = ready[0], ready[1:]
				t.swap(now, k, idle, on[k], recording.Running, recording.No, recording.No)
				t.begin(k, on[k], now, holds, until)
			}
		}
	}
}

// begin lets a thread of lockedTape go on with its next piece of work.
func (t *tape) begin(c, thread int, now float64, holds []bool, until []float64) {
	if thread < 0 {
		return
	}
	stack, length := 1, 2.0
	if holds[thread] {
		stack, length = 0, 1
	}
	until[c] = now + length
	t.work(now, now+length, thread, stack)
}

// A thread that waits busily is found by its samples.
func TestBusyWaiting(t *testing.T) {
	refused := func(change func(*tape)) string {
		tape := atBarrier(0)
		tape.Period = 250e3
		tape.Frames = append(tape.Frames, recording.Frame{Function: "wait", Spins: true})
		change(tape)
		_, why := tape.machine(t, 299.9).Check().Trusted()
		return why
	}
	busy := func(t *tape) { t.Stacks[1] = recording.Stack{2, 1} }
	if why := refused(busy); !strings.Contains(why, "wait busily for 67% of the time, t most of all") {
		t.Errorf("busy waiting: refused with %q", why)
	}
	called := func(t *tape) { busy(t); t.Stacks[1] = recording.Stack{1, 2}; t.Frames[1].InScope = true }
	for name, change := range map[string]func(*tape){
		"nobody waits":          func(*tape) {},
		"code that a loop runs": called,
		"it takes little":       func(t *tape) { busy(t); t.Period = 15e3 },
	} {
		if why := refused(change); why != "" {
			t.Errorf("%s: refused with %q", name, why)
		}
	}
}

// The two futexes of a condition variable are one object; those of two semaphores are two.
func TestFutexesOfCondition(t *testing.T) {
	for function, want := range map[string]int32{"pthread_cond_wait": 0, "sem_wait": 1} {
		tape := atBarrier(0)
		tape.Frames[1].Function = function
		tape.Objects = []recording.Object{{Kind: recording.Futex, Address: 40}, {Kind: recording.Futex, Address: 44}}
		waits := 0
		for i := range tape.events {
			if e := &tape.events[i]; e.Object == atLock {
				e.Object = int32(waits / 2 % 2)
				waits++
			}
		}
		m := tape.machine(t, 299.9)
		if got := slices.MaxFunc(m.waits, func(a, b wait) int { return int(a.object - b.object) }).object; got != want {
			t.Errorf("%s: the last object is %d, want %d", function, got, want)
		}
		if m.waits[0].object != 0 {
			t.Errorf("%s: the first object is %d", function, m.waits[0].object)
		}
	}
}

// A thread asks something outside that takes 2 ms for an answer, and is woken once for nothing meanwhile, as by a Unix
// socket. Then it works, for longer or shorter. The answers have no period of their own.
func TestWokenForNothing(t *testing.T) {
	tape := newTape(1, 1, 1, 2)
	tape.state(0, 0, recording.Running, recording.No)
	answer := func(ms float64) {
		e := blank(recording.Wake, recording.No, 0)
		e.Class, e.Cause = recording.Net, recording.ByStranger
		tape.add(ms, e)
		tape.swap(ms, 0, idle, 0, recording.Running, recording.No, recording.No)
	}
	at := 0.0
	for i := range 60 {
		work := 1 + 0.5*float64(i%3)
		tape.work(at, at+work, 0, 0)
		tape.visit(at+work, 0, 0)
		at += work
		tape.pause(at, 0, 0, 1, 1)
		answer(at + 0.002)
		tape.pause(at+0.005, 0, 0, 1, 1)
		answer(at + 2)
		at += 2
	}
	m := tape.machine(t, at)
	faithful(t, m)
	for i := range m.waits {
		if m.waits[i].ends == atMoment {
			t.Fatal("answers are taken to come at moments of their own")
		}
	}
	want(t, m, tape.unit(0), 0, 1, 10.7, 21.4, 32.1, 42.9)
	slow := m.Run(Change{Device: Device{Net: 0.5}})
	if x := pace(&slow, 0); math.Abs(x-5.5/3.5) > 0.02 {
		t.Errorf("with half of the network's speed a visit takes %.3f times as long", x)
	}
}

// TestJoinOfEarlier: a thread wakes the one that joins it, and is over a little later. A thread that was made and ended
// meanwhile has nothing to do with that wait.
func TestJoinOfEarlier(t *testing.T) {
	const rounds = 20
	tape := newTape(3, 1+2*rounds, 1, 1)
	tape.state(0, 0, recording.Running, recording.No)
	for k := range rounds {
		at, a, b := 2*float64(k), 1+2*k, 2+2*k
		tape.add(at+0.1, blank(recording.Fork, 0, a))
		tape.swap(at+0.12, 1, idle, a, recording.Running, recording.No, recording.No)
		tape.pause(at+0.2, 0, 0, 0, 0)
		tape.resume(at+1, 0, a, 0, 0)
		tape.add(at+1.05, blank(recording.Fork, 0, b))
		tape.swap(at+1.07, 2, idle, b, recording.Running, recording.No, recording.No)
		tape.swap(at+1.2, 2, b, idle, recording.Ended, recording.No, recording.No)
		tape.swap(at+1.3, 1, a, idle, recording.Ended, recording.No, recording.No)
		tape.visit(at+1.4, 0, 0)
	}
	m := tape.machine(t, 2*rounds)
	if d := m.Check(); d.Stuck || d.Stalls > 0 || math.Abs(d.Points[0]) > 0.02 {
		t.Errorf("stuck %t, %d stalls, %.1f%% off", d.Stuck, d.Stalls, 100*d.Points[0])
	}
}

// TestBursts: to wake two threads at once is something else than to wake one, sleep, and wake the other.
func TestBursts(t *testing.T) {
	for _, rest := range []float64{0, 0.5} {
		tape := newTape(3, 3, 1, 3)
		for i := range 3 {
			tape.state(i, i, recording.Running, recording.No)
		}
		for k := range 50 {
			at := 4 * float64(k)
			tape.pause(at+0.1, 1, 1, 1, 0)
			tape.pause(at+0.1, 2, 2, 1, 0)
			tape.pause(at+0.2, 0, 0, 0, recording.No)
			tape.rings(at+1, 0, 0)
			tape.resume(at+1.1, 1, 0, 1, 0)
			if rest > 0 {
				tape.pause(at+1.15, 0, 0, 0, recording.No)
				tape.rings(at+1.15+rest, 0, 0)
			}
			tape.resume(at+1.2+rest, 2, 0, 2, 0)
			tape.visit(at+2.5, 1, 0)
		}
		m := tape.machine(t, 200)
		faithful(t, m)
		if pools := m.pools; pools > 0 != (rest > 0) {
			t.Errorf("rest of %g ms: %d pools", rest, pools)
		}
	}
}

// TestSmallLock: a lock that does not explain what threads did, but hardly ever made one wait, orders nothing.
func TestSmallLock(t *testing.T) {
	tape := newTape(2, 2, 1, 3)
	tape.Frames[2].Function = "pthread_mutex_lock"
	tape.state(0, 0, recording.Running, recording.No)
	tape.state(1, 1, recording.Running, recording.No)
	for k := range 50 { // each is let go while the other one has the lock
		at := 4 * float64(k)
		tape.pause(at+1, 0, 0, 2, atLock)
		tape.resume(at+1.005, 0, 1, 0, atLock)
		tape.visit(at+2, 0, 0)
	}
	m := tape.machine(t, 200)
	list := []int32{}
	for i := range m.waits {
		if m.waits[i].ends == byWake {
			list = append(list, int32(i))
		}
	}
	m.locks[atLock].is = true
	if !m.dropSmall([][]int32{list, nil}, nil) || m.locks[atLock].is {
		t.Error("a lock that is waited for in a thousandth of the time matters")
	}
	for _, n := range list {
		if m.waits[n].ends != after {
			t.Fatalf("wait %d ends as %d", n, m.waits[n].ends)
		}
	}
	m.locks[atLock].is = true
	if m.dropSmall([][]int32{list, nil}, []int32{atLock}) {
		t.Error("what may be a barrier was dropped")
	}
}

// TestMixedRequests: where any of two threads may take a request, latencies are those of requests, whichever thread
// ends them. One that ends before its begin has none.
func TestMixedRequests(t *testing.T) {
	r := run{m: &Machine{rec: &recording.Recording{Points: make([]recording.Point, 1)}}, out: &WindowOutcome{},
		visited: make([]float64, 4), begun: make([][]float64, 1), early: make([]int, 1)}
	r.w = &window{mixed: []bool{true}, entities: make([]entity, 1)}
	r.ents = make([]actor, 1)
	r.out.Visits = make([][]Visit, 1)
	for i, begin := range []int32{recording.No, recording.No, 0, 1} {
		v := visit{begin: begin, role: recording.Begin, ends: true}
		if begin >= 0 {
			v.role, v.counts, v.ends = recording.End, true, false
		}
		r.m.visits = append(r.m.visits, v)
		r.visited[i] = math.NaN()
	}
	// The request that began second ends first, in the program that ended the first one in the recording.
	for _, step := range []struct {
		at float64
		n  int32
	}{{10, 1}, {30, 2}, {35, 3}, {40, 0}} {
		r.now = step.at
		r.visit(0, step.n)
	}
	got := r.out.Visits[0]
	if len(got) != 2 || got[0].Latency != 20 || got[1].Latency != recording.No || r.early[0] != 0 || len(r.begun[0]) != 0 {
		t.Errorf("%+v; early %v, begun %v", got, r.early, r.begun)
	}
}
