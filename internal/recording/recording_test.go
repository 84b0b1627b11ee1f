package recording

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// small is a recording that has each kind of event, and each field.
func small() *Recording {
	return &Recording{
		Cores: 2, Period: 1e6, Began: 1.7e18, Length: 10e6,
		Threads: []Thread{
			{ID: 100, Process: 100, Name: "main", Program: "/bin/app", Nice: -5, Allowed: []int16{0, 1}},
			{ID: 101, Process: 100, Name: "worker", Program: "/bin/app"},
			{ID: 102, Process: 100, Name: "late", Program: "/bin/app", Allowed: []int16{1}},
			{ID: 1, Process: 100, Program: "/bin/app", Goroutine: true},
			{ID: 7, Process: 100, Program: "/bin/app", Goroutine: true},
		},
		Points:  []Point{{"request", true}, {"done", false}},
		Objects: []Object{{Futex, 100, 0x7f00_0000_1000}, {Socket, No, 77}, {Channel, 100, 0xc000_0120}},
		Places:  []Place{{0, 0x401000, 0x7ffe_0000}, {No, 0x402000, 0}, {1, 0x403000, 0xc000_8000}},
		Stacks:  []Stack{{0, 1}, {1}, {2, 0, 1}},
		Frames: []Frame{
			{Function: "work(int)", Short: "work", File: "/src/app.c", Line: 10, Binary: "/bin/app", Inlined: true,
				InScope: true},
			{Function: "main", File: "/src/app.c", Line: 99, Binary: "/bin/app", InScope: true},
			{Function: "futex_wait", Kernel: true},
		},
		Losses: Losses{Events: 3, Repaired: 2, LeftOut: 5, Outside: 1e6},
		Windows: []Window{
			{Begin: 0, End: 4e6, Events: []Event{
				{Kind: State, Thread: 0, Condition: Running, CPU: 1},
				{Kind: State, Thread: 1, Condition: Waiting, Place: 0, Object: 0, CPU: No},
				{Kind: State, Thread: 3, Condition: Runnable, CPU: No},
				{Time: 1000, Kind: Sample, Thread: 0, Stack: 2, CPU: 1},
				{Time: 2000, Kind: Visit, Thread: 0, Point: 0, Role: Begin, Key: 1 << 63, CPU: 1},
				{Time: 3000, Kind: Wake, Thread: 0, Other: 1, Place: 2, Object: 0, Class: Lock, CPU: 1},
				{Time: 4000, Kind: Switch, Thread: Idle, Other: 1, CPU: 0},
				{Time: 5000, Kind: Fork, Thread: 1, Other: 2, CPU: 0},
				{Time: 6000, Kind: Switch, Thread: 1, Other: 2, Condition: Runnable, CPU: 0},
				{Time: 7000, Kind: Visit, Thread: 2, Point: 0, Role: End, Key: 1 << 63, CPU: 0},
				{Time: 8000, Kind: Switch, Thread: 2, Other: Stranger, Condition: Ended, CPU: 0},
				{Time: 8000, Kind: Switch, Thread: Idle, Other: 1, CPU: 0},
				{Time: 9000, Kind: Switch, Thread: 1, Other: Idle, Condition: Waiting, Place: 1, Object: 1, CPU: 0},
				{Time: 9500, Kind: Wake, Thread: No, Other: 1, Cause: ByDevice, Class: Net, Place: No, Object: No, CPU: 1},
			}},
			{Begin: 5e6, End: 10e6, Events: []Event{
				{Time: 5e6, Kind: State, Thread: 1, Condition: Running, CPU: 0},
				{Time: 5e6, Kind: State, Thread: 3, Condition: Runnable, CPU: No},
				{Time: 5e6, Kind: Run, Thread: 1, Other: 3, CPU: 0},
				{Time: 6e6, Kind: Fork, Thread: 3, Other: 4, CPU: 0},
				{Time: 7e6, Kind: Park, Thread: 3, Place: 2, Object: 2, CPU: 0},
				{Time: 7e6, Kind: Run, Thread: 1, Other: 4, CPU: 0},
				{Time: 8e6, Kind: Visit, Thread: 4, Point: 1, CPU: 0},
				{Time: 8e6, Kind: Ready, Thread: 4, Other: 3, Cause: ByThread, Place: 1, Object: 2, CPU: 0},
				{Time: 9e6, Kind: Run, Thread: 1, Other: No, CPU: 0},
			}},
		},
	}
}

func TestCheck(t *testing.T) {
	for _, r := range []*Recording{small(), synthesize(1, 5000), {Cores: 1}} {
		if err := Check(r); err != nil {
			t.Error(err)
		}
	}
}

// TestCheckRefuses spoils a recording in one place.
func TestCheckRefuses(t *testing.T) {
	event := func(window, event int, change func(e *Event)) func(r *Recording) {
		return func(r *Recording) { change(&r.Windows[window].Events[event]) }
	}
	without := func(i int) func(r *Recording) {
		return func(r *Recording) { r.Windows[0].Events = slices.Delete(r.Windows[0].Events, i, i+1) }
	}
	for want, spoil := range map[string]func(r *Recording){
		"number of cores is 0":   func(r *Recording) { r.Cores = 0 },
		"length is":              func(r *Recording) { r.Length = 1 << 51 },
		"ns left out is":         func(r *Recording) { r.Losses.LeftOut = -1 },
		"thread 1: id":           func(r *Recording) { r.Threads[1].Nice = 30 },
		"core -1 is allowed":     func(r *Recording) { r.Threads[2].Allowed[0] = No },
		"object 1: kind 9":       func(r *Recording) { r.Objects[1].Kind = 9 },
		"stack 2: frame 3":       func(r *Recording) { r.Stacks[2][0] = 3 },
		"place 0: stack 3":       func(r *Recording) { r.Places[0].Stack = 3 },
		"frame 1: line -4":       func(r *Recording) { r.Frames[1].Line = -4 },
		"window 1 is from 39":    func(r *Recording) { r.Windows[1].Begin = 39e5 },
		"window 1 is from 50":    func(r *Recording) { r.Windows[1].End = 11e6 },
		"event 13 (wake at 0.00": event(0, 13, func(e *Event) { e.Time = 8999 }),
		"after the window's end": event(0, 13, func(e *Event) { e.Time = 5e6 }),
		"kind 9 is not known":    event(0, 3, func(e *Event) { e.Kind = 9 }),
		"not at the window's be": event(0, 4, func(e *Event) { e.Kind, e.Thread, e.Condition = State, 2, Waiting }),
		"thread 5, there are 5":  event(0, 3, func(e *Event) { e.Thread = 5 }),
		"stack 7, there are 3":   event(0, 3, func(e *Event) { e.Stack = 7 }),
		"point 2, there are 2":   event(0, 4, func(e *Event) { e.Point = 2 }),
		"role 3":                 event(0, 4, func(e *Event) { e.Role = 3 }),
		"place 3, there are 3":   event(0, 5, func(e *Event) { e.Place = 3 }),
		"object -2":              event(0, 5, func(e *Event) { e.Object = -2 }),
		"class 7":                event(0, 5, func(e *Event) { e.Class = Classes }),
		"cause 4":                event(1, 7, func(e *Event) { e.Cause = 4 }),
		"core -2":                event(0, 5, func(e *Event) { e.CPU = -2 }),
		"condition 0":            event(0, 8, func(e *Event) { e.Condition = Running }),
		"condition 4":            event(0, 0, func(e *Event) { e.Condition = 4 }),
		"it runs on no core":     event(0, 0, func(e *Event) { e.CPU = No }),
		"its core is not known":  event(0, 6, func(e *Event) { e.CPU = No }),
		"both are thread 1":      event(0, 8, func(e *Event) { e.Other = 1 }),
		"thread 3 is a gorou":    event(0, 3, func(e *Event) { e.Thread = 3 }),
		"thread 0 is no gorou":   event(1, 4, func(e *Event) { e.Thread = 0 }),
		"has two states":         event(0, 1, func(e *Event) { e.Thread = 0 }),
		"core 1 runs both":       event(0, 1, func(e *Event) { e.Condition, e.CPU = Running, 1 }),
		"was not woken since":    without(5),
		"thread 1 (id 101) does": without(6),
		"is not known: it has n": without(7),
		"thread 0 (id 100) exis": event(0, 7, func(e *Event) { e.Other = 0 }),
		"runs on core 1 already": event(0, 6, func(e *Event) { e.Other = 0 }),
		"does not leave it":      event(0, 8, func(e *Event) { e.Thread = Idle }),
		"runs on core 0":         event(0, 8, func(e *Event) { e.CPU = 1 }),
		"has ended":              event(0, 13, func(e *Event) { e.Other = 2 }),
		"waits already": func(r *Recording) {
			r.Windows[1].Events = slices.Insert(r.Windows[1].Events, 5, r.Windows[1].Events[4])
		},
		"was not made ready": func(r *Recording) {
			r.Windows[1].Events = slices.Delete(r.Windows[1].Events, 7, 8)
			r.Windows[1].Events[7].Other = 3
		},
		"is run by thread 1": func(r *Recording) {
			w := &r.Windows[1]
			w.Events = slices.Insert(w.Events, 1, Event{Time: 5e6, Kind: State, Thread: 0, Condition: Running, CPU: 1})
			w.Events[6].Thread, w.Events[6].Other, w.Events[6].CPU = 0, 3, 1
			w.Events = slices.Delete(w.Events, 5, 6)
		},
	} {
		r := small()
		spoil(r)
		err := Check(r)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// lose takes events of a kind out, about one of each so many.
func lose(r *Recording, kind Kind, each int, seed uint64) (lost int) {
	random := rand.New(rand.NewPCG(seed, 2))
	for i := range r.Windows {
		w := &r.Windows[i]
		w.Events = slices.DeleteFunc(w.Events, func(e Event) bool {
			gone := e.Kind == kind && random.IntN(each) == 0
			if gone {
				lost++
			}
			return gone
		})
	}
	return lost
}

// running gives the ns that each thread ran.
func running(r *Recording) (total int64) {
	since := make(map[int32]int64)
	for _, w := range r.Windows {
		clear(since)
		for _, e := range w.Events {
			switch {
			case e.Kind == State && e.Condition == Running:
				since[e.Thread] = e.Time
			case e.Kind == Switch:
				if at, ok := since[e.Thread]; ok && e.Thread >= 0 {
					total += e.Time - at
				}
				since[e.Other] = e.Time
			}
		}
	}
	return total
}

func TestRepairLeavesGoodOnesAlone(t *testing.T) {
	for _, r := range []*Recording{small(), synthesize(2, 5000)} {
		losses, events := r.Losses, len(r.Windows[0].Events)
		if err := Repair(r); err != nil {
			t.Fatal(err)
		}
		if r.Losses != losses || len(r.Windows[0].Events) != events {
			t.Errorf("%d events, were %d; losses are %+v, were %+v", len(r.Windows[0].Events), events, r.Losses, losses)
		}
		if err := Check(r); err != nil {
			t.Error(err)
		}
	}
}

// TestRepairSwitches: switches that the kernel lost are found, and nearly nothing is left out.
func TestRepairSwitches(t *testing.T) {
	for seed := range uint64(20) {
		r := synthesize(seed, 8000)
		truth := running(r)
		lost := lose(r, Switch, 100, seed)
		if Check(r) == nil {
			t.Fatal("nothing was lost")
		}
		if err := Repair(r); err != nil {
			t.Fatal(err)
		}
		if err := Check(r); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		ran := running(r)
		t.Logf("%d lost, %d repaired, %.1f%% of the time left out, %.3f of the running", lost, r.Losses.Repaired,
			100*float64(r.Losses.LeftOut)/float64(r.Length), float64(ran)/float64(truth))
		if r.Losses.Repaired < int64(lost)*8/10 || r.Losses.LeftOut > r.Length/10 {
			t.Errorf("%d: %d were lost; losses are %+v of %d ns", seed, lost, r.Losses, r.Length)
		}
	}
}

// TestRepairAnything: whatever was lost, a recording is well-formed after Repair, and all its time is accounted for.
func TestRepairAnything(t *testing.T) {
	for seed := range uint64(30) {
		for kind := range noKind {
			r := small()
			if seed > 5 {
				r = synthesize(seed, 1000)
			}
			lose(r, kind, 2+int(seed), seed)
			before, already := covered(r), r.Losses.LeftOut
			if err := Repair(r); err != nil {
				t.Fatal(err)
			}
			if err := Check(r); err != nil {
				t.Errorf("%s, %d: %v", kindNames[kind], seed, err)
			}
			if missing, said := before-covered(r), r.Losses.LeftOut-already; missing != said {
				t.Errorf("%s, %d: %d ns are missing, %d were left out", kindNames[kind], seed, missing, said)
			}
		}
	}
}

// covered is how long the windows are.
func covered(r *Recording) (sum int64) {
	for _, w := range r.Windows {
		sum += w.End - w.Begin
	}
	return sum
}

// story is a window of two threads on two cores, 100 periods of sampling long.
func story(events ...Event) *Recording {
	return &Recording{
		Cores: 2, Period: 1e6, Length: 100e6, Threads: []Thread{{ID: 1}, {ID: 2}, {ID: 3, Goroutine: true}},
		Places: make([]Place, 1), Objects: make([]Object, 1), Points: make([]Point, 1), Stacks: make([]Stack, 1),
		Windows: []Window{{Begin: 0, End: 100e6, Events: events}},
	}
}

// TestRepairRules has one story for each rule.
func TestRepairRules(t *testing.T) {
	ms := func(n float64) int64 { return int64(n * 1e6) }
	runs := func(thread int32, cpu int16) Event {
		return Event{Kind: State, Thread: thread, Condition: Running, CPU: cpu}
	}
	is := func(thread int32, c Condition) Event {
		return Event{Kind: State, Thread: thread, Condition: c, CPU: No}
	}
	wake := func(at float64, by, other int32, cpu int16) Event {
		return Event{Time: ms(at), Kind: Wake, Thread: by, Other: other, CPU: cpu, Class: Lock}
	}
	sample := func(at float64, thread int32, cpu int16) Event {
		return Event{Time: ms(at), Kind: Sample, Thread: thread, CPU: cpu}
	}
	to := func(at float64, cpu int16, from int32, c Condition, other int32) Event {
		return Event{Time: ms(at), Kind: Switch, CPU: cpu, Thread: from, Condition: c, Other: other}
	}
	for _, c := range []struct {
		name     string
		events   []Event
		at       int   // the number of the event that was added or changed
		want     Event // Time, Kind, CPU, Thread, Other, Condition
		repaired int64
		leftOut  int64
	}{
		{"an idle core was left as soon as the thread could run",
			[]Event{runs(0, 0), is(1, Waiting), wake(10, 0, 1, 0), sample(30, 1, 1)},
			3, to(10, 1, Idle, 0, 1), 1, 0},
		{"one thread followed on the other, which waits",
			[]Event{runs(0, 0), is(1, Waiting), wake(10, 0, 1, 0), sample(30, 1, 0), wake(40, 1, 0, 0)},
			3, to(20, 0, 0, Waiting, 1), 1, 0},
		{"one thread followed on the other, which can run",
			[]Event{runs(0, 0), is(1, Runnable), sample(10, 0, 0), sample(30, 1, 0), to(40, 1, Idle, 0, 0)},
			3, to(20, 0, 0, Runnable, 1), 1, 0},
		{"a thread left its core for another one",
			[]Event{runs(0, 0), sample(10, 0, 0), to(30, 1, Idle, 0, 0)},
			2, to(20, 0, 0, Runnable, Idle), 1, 0},
		{"a thread left its core, and was woken",
			[]Event{runs(0, 0), runs(1, 1), sample(10, 0, 0), wake(20, 1, 0, 1), to(30, 0, Idle, 0, 0)},
			3, to(15, 0, 0, Waiting, Idle), 1, 0},
		{"a wake-up came before the switch",
			[]Event{runs(0, 0), runs(1, 1), wake(20, 1, 0, 1), to(20.001, 0, 0, Waiting, Idle), to(30, 0, Idle, 0, 0)},
			3, wake(20.001, 1, 0, 1), 1, 0},
		{"a state was read late",
			[]Event{is(0, Runnable), runs(1, 1), sample(10, 0, 0)},
			0, runs(0, 0), 1, 0},
		{"a thread has no state",
			[]Event{runs(0, 0), sample(10, 1, 1)},
			1, runs(1, 1), 1, 0},
		{"a thread was made unseen",
			[]Event{runs(0, 0), to(10, 0, 0, Waiting, 1)},
			1, Event{Time: ms(10), Kind: State, CPU: No, Thread: 1, Condition: Runnable}, 1, ms(10)},
		{"a goroutine went on",
			[]Event{runs(0, 0), is(2, Runnable), {Time: ms(1), Kind: Run, Thread: 0, Other: 2},
				{Time: ms(2), Kind: Park, Thread: 2}, {Time: ms(5), Kind: Run, Thread: 0, Other: 2}},
			4, Event{Time: ms(5), Kind: Ready, CPU: No, Thread: No, Other: 2}, 1, 0},
		{"nothing tells what woke a thread",
			[]Event{runs(0, 0), to(10, 0, 0, Waiting, Idle), sample(20, 0, 0)},
			1, to(10, 0, 0, Waiting, Idle), 0, ms(10)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := story(c.events...)
			if Check(r) == nil {
				t.Fatal("nothing to repair")
			}
			if err := Repair(r); err != nil {
				t.Fatal(err)
			}
			if err := Check(r); err != nil {
				t.Fatal(err)
			}
			e := r.Windows[0].Events[c.at]
			got := Event{Time: e.Time, Kind: e.Kind, CPU: e.CPU, Thread: e.Thread, Other: e.Other, Condition: e.Condition}
			if want := c.want; e.Kind == State {
				got.Other = 0
			} else if want.Class, got.Class = e.Class, e.Class; got != want {
				t.Errorf("event %d is %+v, want %+v", c.at, got, want)
			}
			if want := c.want; e.Kind == State && got != want {
				t.Errorf("event %d is %+v, want %+v", c.at, got, want)
			}
			if r.Losses != (Losses{Repaired: c.repaired, LeftOut: c.leftOut}) {
				t.Errorf("losses are %+v", r.Losses)
			}
		})
	}
}

func TestRepairRefuses(t *testing.T) {
	r := story(Event{Kind: Sample, Thread: 7})
	if err := Repair(r); err == nil || !strings.Contains(err.Error(), "window 0, event 0 (sample") {
		t.Error(err)
	}
	r = story(Event{Time: 101e6, Kind: Sample})
	if err := Repair(r); err == nil || !strings.Contains(err.Error(), "time is 101000000") {
		t.Error(err)
	}
}

// TestNoRoom: all events of some stretches found no room.
func TestNoRoom(t *testing.T) {
	for seed := range uint64(10) {
		r := synthesize(seed, 5000)
		random := rand.New(rand.NewPCG(seed, 4))
		var stretches [][2]int64
		for range 3 {
			from := random.Int64N(r.Length)
			stretches = append(stretches, [2]int64{from, from + random.Int64N(r.Length/20)})
		}
		for _, s := range stretches {
			r.Windows[0].Events = slices.DeleteFunc(r.Windows[0].Events, func(e Event) bool {
				return e.Kind != State && e.Time > s[0] && e.Time <= s[1]
			})
		}
		for _, s := range stretches {
			LeaveOut(r, s[0], s[1])
		}
		if err := Repair(r); err != nil {
			t.Fatal(err)
		}
		if err := Check(r); err != nil {
			t.Errorf("%d: %v", seed, err)
		}
		if covered(r)+r.Losses.LeftOut != r.Length-1 || covered(r) < r.Length*8/10 {
			t.Errorf("%d: losses are %+v of %d, %d are left", seed, r.Losses, r.Length, covered(r))
		}
		for _, w := range r.Windows {
			for _, s := range stretches {
				if w.Begin < s[1] && s[0] < w.End {
					t.Errorf("%d: the window from %d to %d has the stretch from %d to %d", seed, w.Begin, w.End, s[0], s[1])
				}
			}
		}
	}
}

// TestLeaveOut: what was going on before a stretch goes on after it.
func TestLeaveOut(t *testing.T) {
	r := synthesize(3, 5000)
	length, from, to := r.Length, r.Length/3, r.Length/2
	before := len(r.Windows[0].Events)
	LeaveOut(r, from, to)
	if len(r.Windows) != 2 || r.Windows[0].End != from || r.Windows[1].Begin != to || r.Losses.LeftOut != to-from {
		t.Fatalf("%d windows, losses are %+v", len(r.Windows), r.Losses)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
	if n := len(r.Windows[0].Events) + len(r.Windows[1].Events); n < before*8/10 || n > before*9/10 {
		t.Errorf("%d of %d events are left", n, before)
	}
	goroutines := small()
	LeaveOut(goroutines, 55e5, 65e5)
	if err := Check(goroutines); err != nil || len(goroutines.Windows) != 3 {
		t.Fatal(err)
	}
	e := goroutines.Windows[2].Events
	if len(e) != 9 || e[3].Kind != Run || e[3].Other != 3 || e[3].CPU != 0 {
		t.Errorf("goroutines: %+v", e)
	}
	losses := goroutines.Losses
	if err := Repair(goroutines); err != nil || goroutines.Losses != losses {
		t.Errorf("%v, losses are %+v, were %+v", err, goroutines.Losses, losses)
	}
	LeaveOut(r, 0, from)
	LeaveOut(r, to, length)
	if len(r.Windows) != 0 || r.Losses.LeftOut != length-1 {
		t.Errorf("%d windows, losses are %+v of %d", len(r.Windows), r.Losses, length)
	}
}
