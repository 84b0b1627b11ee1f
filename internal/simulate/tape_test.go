package simulate

import (
	"math"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// tape is a recording that a test writes by hand. Times are in milliseconds.
type tape struct {
	recording.Recording
	events []recording.Event
	end    float64
}

const (
	idle   = recording.Idle
	atLock = 0 // the object that most tests use
)

// newTape makes a tape with so many threads, points and stacks. Thread i takes samples at stack i, if nothing else is
// said; place i is at stack i.
func newTape(cores, threads, points, stacks int) *tape {
	t := &tape{}
	t.Cores, t.Period = cores, 1e6
	for i := range threads {
		t.Threads = append(t.Threads, recording.Thread{ID: int32(100 + i), Process: 100, Name: "t"})
	}
	for range points {
		t.Points = append(t.Points, recording.Point{Name: "p"})
	}
	for i := range stacks {
		t.Frames = append(t.Frames, recording.Frame{Function: string(rune('a' + i))})
		t.Stacks = append(t.Stacks, recording.Stack{int32(i)})
		t.Places = append(t.Places, recording.Place{Stack: int32(i), Address: uint64(i)})
	}
	t.Objects = []recording.Object{{Kind: recording.Futex, Address: 1}, {Kind: recording.Futex, Address: 2}}
	return t
}

// add adds an event. Events may be added in any order of time; those at the same time happen in the order of adding.
func (t *tape) add(ms float64, e recording.Event) {
	e.Time = int64(math.Round(ms * 1e6))
	t.events = append(t.events, e)
	t.end = max(t.end, ms)
}

func blank(kind recording.Kind, thread, other int) recording.Event {
	return recording.Event{Kind: kind, Thread: int32(thread), Other: int32(other), Place: recording.No,
		Object: recording.No, Stack: recording.No, Point: recording.No}
}

func (t *tape) state(thread, cpu int, c recording.Condition, object int) {
	e := blank(recording.State, thread, recording.No)
	e.CPU, e.Condition, e.Object = int16(cpu), c, int32(object)
	t.add(0, e)
}

// swap lets a core go from one thread to another.
func (t *tape) swap(ms float64, cpu, from, to int, c recording.Condition, place, object int) {
	e := blank(recording.Switch, from, to)
	e.CPU, e.Condition, e.Place, e.Object = int16(cpu), c, int32(place), int32(object)
	t.add(ms, e)
}

// pause lets a thread wait on its core, which is idle meanwhile.
func (t *tape) pause(ms float64, cpu, thread, place, object int) {
	t.swap(ms, cpu, thread, idle, recording.Waiting, place, object)
}

func (t *tape) wake(ms float64, by, other, object int) {
	e := blank(recording.Wake, by, other)
	e.Object, e.Class, e.Cause = int32(object), recording.Lock, recording.ByThread
	t.add(ms, e)
}

// resume wakes a thread that then runs on an idle core.
func (t *tape) resume(ms float64, cpu, by, other, object int) {
	t.wake(ms, by, other, object)
	t.swap(ms, cpu, idle, other, recording.Running, recording.No, recording.No)
}

func (t *tape) rings(ms float64, cpu, thread int) {
	e := blank(recording.Wake, recording.No, thread)
	e.Class, e.Cause = recording.Sleep, recording.ByTimer
	t.add(ms, e)
	t.swap(ms, cpu, idle, thread, recording.Running, recording.No, recording.No)
}

func (t *tape) visit(ms float64, thread, point int) {
	e := blank(recording.Visit, thread, recording.No)
	e.Point = int32(point)
	t.add(ms, e)
}

// work takes samples of a thread, each quarter of a millisecond.
func (t *tape) work(from, to float64, thread, stack int) {
	for ms := from + 0.125; ms < to; ms += 0.25 {
		e := blank(recording.Sample, thread, recording.No)
		e.Stack = int32(stack)
		t.add(ms, e)
	}
}

// machine ends the recording.
func (t *tape) machine(tb testing.TB, end float64) *Machine {
	tb.Helper()
	slices.SortStableFunc(t.events, func(a, b recording.Event) int { return int(a.Time - b.Time) })
	stop := int64(math.Round(end * 1e6))
	n := len(t.events)
	for n > 0 && t.events[n-1].Time > stop {
		n--
	}
	t.Length = stop
	t.Windows = []recording.Window{{End: stop, Events: t.events[:n]}}
	m, err := New(&t.Recording)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// stacks is the unit of some stacks.
func (t *tape) unit(stacks ...int) Unit {
	u := Unit{Stacks: make([]bool, len(t.Stacks))}
	for _, s := range stacks {
		u.Stacks[s] = true
	}
	return u
}

// gain returns by how many percent the time per visit of a point shrinks.
func gain(m *Machine, c Change, point int) float64 {
	was, is := m.Run(Change{}), m.Run(c)
	return 100 * (1 - pace(&is, point)/pace(&was, point))
}

// want checks gains at speed-ups of 25, 50, 75 and 100 percent, in percent.
func want(t *testing.T, m *Machine, u Unit, point int, within float64, gains ...float64) {
	t.Helper()
	faithful(t, m)
	for i, g := range gains {
		by := 0.25 * float64(i+1)
		got := gain(m, Change{Faster: []Faster{{Unit: u, By: by}}}, point)
		if math.Abs(got-g) > within {
			t.Errorf("%.0f%% faster: gain %.2f%%, want %.2f%%", 100*by, got, g)
		}
	}
}

// faithful checks that the machine does what was recorded.
func faithful(t *testing.T, m *Machine) {
	t.Helper()
	d := m.Check()
	if what, by := d.Worst(); math.Abs(by) > 0.01 || d.Stalls > 0 {
		t.Errorf("nothing faster: %s is %.2f%% off, %d stalls", what, 100*by, d.Stalls)
	}
}
