package recorder

import (
	"slices"
	"testing"

	"whatif/bpf"
	"whatif/internal/recording"
)

const (
	kindRun   = bpf.RecordRecordKindRECORD_RUN
	kindPark  = bpf.RecordRecordKindRECORD_PARK
	kindReady = bpf.RecordRecordKindRECORD_READY

	oneGoroutine = 0xc000_0001_0000 // addresses
	twoGoroutine = 0xc000_0002_0000
)

// about is a record about a goroutine.
func about(kind bpf.RecordRecordKind, at uint64, cpu uint16, thread uint32, g uint64, more ...func(*record)) record {
	r := rec(kind, at, cpu, thread, uint32(g), more...)
	r.Extra = uint16(g >> 32)
	return r
}

func first(r *record) { r.Class = 1 } // before others in the queue

var ended = in(bpf.RecordRecordConditionCONDITION_ENDED)

// kinds are the kinds of events behind the states.
func kinds(events []recording.Event) (list []recording.Kind) {
	for _, e := range events {
		if e.Kind != recording.State {
			list = append(list, e.Kind)
		}
	}
	return list
}

// checked fails unless events are a recording in which nothing is to be repaired.
func checked(t *testing.T, events []recording.Event, n *numbers) {
	t.Helper()
	r := &recording.Recording{Cores: 2, Period: 10, Length: closed, Threads: n.threads, Objects: n.list,
		Windows: []recording.Window{{Begin: opened, End: closed, Events: events}}}
	for range n.placeIDs {
		r.Places = append(r.Places, recording.Place{Stack: recording.No})
	}
	if err := recording.Check(r); err != nil {
		t.Errorf("%v: %+v", err, events)
	}
}

// A goroutine parks that its thread has run since before the window; another one makes it ready, and a third is new.
func TestGoroutines(t *testing.T) {
	const third = 0xc000_0003_0000
	n := newNumbers(nil)
	n.goroutine(7, oneGoroutine)
	n.goroutine(7, twoGoroutine)
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running),
		about(kindPark, 1100, 0, 1, oneGoroutine),
		about(kindRun, 1110, 0, 1, twoGoroutine),
		about(kindReady, 1200, 0, 1, oneGoroutine, first),
		about(kindReady, 1210, 0, 1, third, first),
		about(kindRun, 1300, 0, 1, twoGoroutine, ended),
		about(kindReady, 1310, 0, 1, oneGoroutine), // it moves from one queue to another
		about(kindRun, 1320, 0, 1, oneGoroutine),
	}
	events, repaired := arrange(raw, n, 0, opened, closed)
	checked(t, events, n)
	want := []recording.Kind{recording.Run, recording.Park, recording.Run, recording.Ready, recording.Fork, recording.Run,
		recording.Run}
	if got := kinds(events); repaired != 0 || !slices.Equal(got, want) {
		t.Fatalf("%d added, kinds %v, want %v", repaired, got, want)
	}
	i := slices.IndexFunc(events, func(e recording.Event) bool { return e.Kind == recording.Ready })
	if e := events[i]; e.Cause != recording.ByThread || e.Thread != 1 || e.Other != 0 {
		t.Errorf("made ready: %+v", e)
	}
	if before := events[i-3]; before.Time != opened || before.Other != 0 {
		t.Errorf("what the thread has run since before: %+v", before)
	}
	if _, known := n.knownGoroutine(7, twoGoroutine); known {
		t.Error("a goroutine that has ended is known")
	}
}

// A thread that looks for a goroutine makes one ready: its timer has fired. Another goes on unseen: by the network.
func TestGoroutinesFromOutside(t *testing.T) {
	n := newNumbers(nil)
	n.goroutine(7, oneGoroutine)
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running),
		about(kindPark, 1100, 0, 1, oneGoroutine),
		about(kindReady, 1200, 0, 1, oneGoroutine, first),
		about(kindRun, 1210, 0, 1, oneGoroutine),
		about(kindPark, 1300, 0, 1, oneGoroutine),
		about(kindRun, 1400, 0, 1, oneGoroutine),
	}
	events, _ := arrange(raw, n, 0, opened, closed)
	checked(t, events, n)
	var causes []recording.Cause
	for _, e := range events {
		if e.Kind == recording.Ready {
			causes = append(causes, e.Cause)
		}
	}
	if !slices.Equal(causes, []recording.Cause{recording.ByTimer, recording.ByDevice}) {
		t.Errorf("made ready by %v: %+v", causes, events)
	}
}
