package synthetic

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"whatif/internal/recording"
)

// eachFamily runs a test with some programs of each family.
func eachFamily(t *testing.T, seeds uint64, test func(*testing.T, *Program)) {
	for _, family := range Families() {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				p := RandomOf(family, seed)
				test(t, p)
				if t.Failed() {
					t.Fatal(p)
				}
			}
		})
	}
}

func seeds() uint64 {
	if testing.Short() {
		return 2
	}
	return 40
}

// TestWellFormed checks what a reader of recordings may rely on.
func TestWellFormed(t *testing.T) {
	eachFamily(t, seeds(), func(t *testing.T, p *Program) {
		r := p.Record()
		for i := range r.Windows {
			if err := wellFormed(r, i); err != nil {
				t.Errorf("window %d: %v", i, err)
			}
		}
		if n := len(p.same[0].Visits[0]); n < 15 {
			t.Errorf("the first window has only %d visits", n)
		}
	})
}

// thread is what a reader knows of a thread at some event.
type thread struct {
	condition recording.Condition
	cpu       int16
	object    int32
	exists    bool
}

// reader goes through the events of a window.
type reader struct {
	r          *recording.Recording
	threads    []thread
	cores      map[int16]int32
	begin      int64
	busy       int64
	samples    int64
	visits     []int
	goroutines map[int32]int32 // which goroutine each thread runs
}

func wellFormed(r *recording.Recording, window int) error {
	w := r.Windows[window]
	v := &reader{
		r: r, threads: make([]thread, len(r.Threads)), cores: map[int16]int32{}, visits: make([]int, len(r.Points)),
		goroutines: map[int32]int32{}, begin: w.Begin,
	}
	last, states := w.Begin, true
	for i, e := range w.Events {
		if e.Time < last || e.Time > w.End {
			return fmt.Errorf("event %d is at %d, after one at %d, in a window up to %d", i, e.Time, last, w.End)
		}
		for _, on := range v.cores {
			if on >= 0 {
				v.busy += e.Time - last
			}
		}
		last = e.Time
		if states = states && e.Kind == recording.State; !states && e.Kind == recording.State {
			return fmt.Errorf("event %d: a state after other events", i)
		}
		if err := v.event(e); err != nil {
			return fmt.Errorf("event %d, %+v: %w", i, e, err)
		}
	}
	expected := float64(v.busy) / float64(r.Period)
	if math.Abs(float64(v.samples)-expected) > 4*math.Sqrt(expected)+5 {
		return fmt.Errorf("%d samples, expected %.0f", v.samples, expected)
	}
	return nil
}

func within(n int32, length int, or ...int32) error {
	for _, o := range or {
		if n == o {
			return nil
		}
	}
	if n < 0 || int(n) >= length {
		return fmt.Errorf("%d is not one of %d", n, length)
	}
	return nil
}

func (v *reader) event(e recording.Event) error {
	if err := within(e.Place, len(v.r.Places), recording.No); err != nil {
		return err
	}
	if err := within(e.Object, len(v.r.Objects), recording.No); err != nil {
		return err
	}
	switch e.Kind {
	case recording.State:
		return v.state(e)
	case recording.Switch:
		return v.switched(e)
	case recording.Wake:
		return v.woken(e)
	case recording.Sample:
		v.samples++
		if err := within(e.Stack, len(v.r.Stacks)); err != nil {
			return err
		}
		return v.runs(e)
	case recording.Visit:
		v.visits[e.Point]++
		return v.runs(e)
	case recording.Run:
		return v.runsGoroutine(e)
	case recording.Park:
		return v.parked(e)
	case recording.Ready:
		return v.ready(e)
	case recording.Fork:
		if err := within(e.Other, len(v.threads)); err != nil {
			return err
		}
		if v.threads[e.Other].exists {
			return fmt.Errorf("the new thread exists already")
		}
		v.threads[e.Other] = thread{condition: recording.Runnable, exists: true}
		return v.runs(e)
	}
	return fmt.Errorf("unexpected kind")
}

func (v *reader) state(e recording.Event) error {
	if err := within(e.Thread, len(v.threads)); err != nil {
		return err
	}
	if v.threads[e.Thread].exists {
		return fmt.Errorf("a second state")
	}
	v.threads[e.Thread] = thread{condition: e.Condition, cpu: e.CPU, object: e.Object, exists: true}
	switch e.Condition {
	case recording.Running:
		if _, taken := v.cores[e.CPU]; taken {
			return fmt.Errorf("two threads on a core")
		}
		v.cores[e.CPU] = e.Thread
	case recording.Waiting:
		return within(e.Place, len(v.r.Places))
	}
	return nil
}

// runs says whether the event's thread is on its core.
func (v *reader) runs(e recording.Event) error {
	if err := within(e.Thread, len(v.threads)); err != nil {
		return err
	}
	if on, ok := v.cores[e.CPU]; !ok || on != e.Thread || v.threads[e.Thread].condition != recording.Running {
		return fmt.Errorf("the thread does not run there, but %d", on)
	}
	return nil
}

func (v *reader) switched(e recording.Event) error {
	if e.CPU < 0 || int(e.CPU) >= v.r.Cores {
		return fmt.Errorf("no such core")
	}
	on, known := v.cores[e.CPU]
	if known && on != e.Thread && (on >= 0 || e.Thread >= 0) || !known && e.Thread >= 0 {
		return fmt.Errorf("%d was on the core", on)
	}
	if e.Thread == e.Other && e.Thread < 0 {
		return fmt.Errorf("a switch of nothing")
	}
	if e.Thread >= 0 {
		if e.Condition == recording.Running {
			return fmt.Errorf("it leaves the core and runs")
		}
		if e.Condition == recording.Waiting {
			if err := within(e.Place, len(v.r.Places)); err != nil {
				return err
			}
		}
		v.threads[e.Thread].condition, v.threads[e.Thread].object = e.Condition, e.Object
	}
	v.cores[e.CPU] = e.Other
	if e.Other < 0 {
		return nil
	}
	next := &v.threads[e.Other]
	if !next.exists || next.condition != recording.Runnable {
		return fmt.Errorf("the thread that comes is not runnable: %+v", *next)
	}
	if allowed := v.r.Threads[e.Other].Allowed; len(allowed) > 0 && allowed[0] != e.CPU {
		return fmt.Errorf("the thread is not allowed there")
	}
	next.condition, next.cpu = recording.Running, e.CPU
	return nil
}

func (v *reader) runsGoroutine(e recording.Event) error {
	if g, ok := v.goroutines[e.Thread]; ok && v.threads[g].condition == recording.Running {
		v.threads[g].condition = recording.Runnable
	}
	delete(v.goroutines, e.Thread)
	if e.Other == recording.No {
		return v.runs(e)
	}
	if err := within(e.Other, len(v.threads)); err != nil {
		return err
	}
	g := &v.threads[e.Other]
	if !v.r.Threads[e.Other].Goroutine || g.condition != recording.Runnable {
		return fmt.Errorf("it cannot run: %+v", *g)
	}
	g.condition = recording.Running
	v.goroutines[e.Thread] = e.Other
	if e.Time == v.begin { // the thread need not be on a core
		return nil
	}
	return v.runs(e)
}

func (v *reader) parked(e recording.Event) error {
	for m, g := range v.goroutines {
		if g == e.Thread {
			delete(v.goroutines, m)
			v.threads[g].condition, v.threads[g].object = recording.Waiting, e.Object
			return v.runs(recording.Event{Thread: m, CPU: e.CPU})
		}
	}
	return fmt.Errorf("the goroutine does not run")
}

func (v *reader) ready(e recording.Event) error {
	if err := within(e.Other, len(v.threads)); err != nil {
		return err
	}
	g := &v.threads[e.Other]
	if !v.r.Threads[e.Other].Goroutine || g.condition != recording.Waiting {
		return fmt.Errorf("it does not wait: %+v", *g)
	}
	g.condition = recording.Runnable
	if (e.Cause == recording.ByThread) != (e.Thread >= 0) {
		return fmt.Errorf("cause and thread do not go together")
	}
	return nil
}

func (v *reader) woken(e recording.Event) error {
	if err := within(e.Other, len(v.threads)); err != nil {
		return err
	}
	other := &v.threads[e.Other]
	if !other.exists || other.condition != recording.Waiting {
		return fmt.Errorf("the woken thread does not wait: %+v", *other)
	}
	other.condition = recording.Runnable
	if e.Cause != recording.ByThread {
		return nil
	}
	if e.Object != other.object || e.Class != recording.Lock && e.Class != recording.Child {
		return fmt.Errorf("it waits at object %d", other.object)
	}
	if err := within(e.Place, len(v.r.Places)); err != nil {
		return err
	}
	return v.runs(e)
}

// TestSameSeed checks that a seed decides everything, and that the changed program is the recorded one where nothing is
// changed.
func TestSameSeed(t *testing.T) {
	eachFamily(t, min(seeds(), 10), func(t *testing.T, p *Program) {
		r := p.Record()
		if again := RandomOf(p.Family, p.Seed).Record(); !reflect.DeepEqual(r, again) {
			t.Error("two recordings of one seed differ")
		}
		truth := p.Truth(Change{})
		for i, w := range truth.Same.Windows {
			if !reflect.DeepEqual(w.Visits, withoutSurplus(truth.Changed.Windows[i].Visits, w.Visits)) {
				t.Error("the unchanged program does not visit as recorded")
			}
		}
		if !reflect.DeepEqual(p.Changes(5), p.Changes(5)) {
			t.Error("two draws of changes differ")
		}
	})
}

// withoutSurplus cuts lists of visits to the lengths of others.
func withoutSurplus[V any](visits, to [][]V) [][]V {
	var cut [][]V
	for i := range visits {
		cut = append(cut, visits[i][:min(len(visits[i]), len(to[i]))])
	}
	return cut
}

func TestDropSwitchIn(t *testing.T) {
	r := RandomOf("barrier", 1).Record()
	before := len(r.Windows[0].Events)
	broken, n := DropSwitchIn(r, 0.1, 1)
	if len(r.Windows[0].Events) != before {
		t.Error("the original recording has changed")
	}
	if missing := before - len(broken.Windows[0].Events); len(r.Windows) == 1 && missing != n {
		t.Errorf("%d events are missing, said to be %d", missing, n)
	}
	if n == 0 || wellFormed(broken, 0) == nil {
		t.Errorf("%d events are missing, and nobody would notice", n)
	}
	if whole, n := DropSwitchIn(r, 0, 1); n != 0 || !reflect.DeepEqual(whole, r) {
		t.Error("nothing was to be dropped")
	}
}

func TestStrip(t *testing.T) {
	r := RandomOf("lock", 1).Record()
	for _, f := range Strip(r).Frames {
		if (f.Function == "") != (f.Binary == "/usr/lib/libc.so.6") {
			t.Errorf("%+v", f)
		}
	}
}
