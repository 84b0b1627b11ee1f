package recorder

import (
	"testing"

	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/recording"
)

const (
	opened = 1000
	closed = 2000
)

func rec(kind bpf.RecordRecordKind, at uint64, cpu uint16, thread, other uint32, more ...func(*record)) record {
	r := record{Time: at, Kind: uint8(kind), Cpu: cpu, Thread: thread, Other: other, Process: 7}
	for _, f := range more {
		f(&r)
	}
	return r
}

func in(c bpf.RecordRecordCondition) func(*record) { return func(r *record) { r.Condition = uint8(c) } }

var (
	waits    = in(bpf.RecordRecordConditionCONDITION_WAITING)
	runnable = in(bpf.RecordRecordConditionCONDITION_RUNNABLE)
	running  = in(bpf.RecordRecordConditionCONDITION_RUNNING)
)

const (
	kindState  = bpf.RecordRecordKindRECORD_STATE
	kindSwitch = bpf.RecordRecordKindRECORD_SWITCH
	kindWake   = bpf.RecordRecordKindRECORD_WAKE
	kindSample = bpf.RecordRecordKindRECORD_SAMPLE
)

// A window begins with what each thread does then, whatever was read before that.
func TestStates(t *testing.T) {
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running), rec(kindState, 910, 0, 2, 0, waits),
		rec(kindWake, 950, 0, 1, 2), // then 2 waits no more
		rec(kindSwitch, 1100, 0, 1, idle, waits),
		rec(kindSwitch, 1200, 1, idle, 2),
	}
	events, repaired := arrange(raw, newNumbers(nil), 0, opened, closed)
	if repaired != 0 || len(events) != 4 {
		t.Fatalf("%d added, %d events: %+v", repaired, len(events), events)
	}
	first, second := events[0], events[1]
	if first.Kind != recording.State || first.Condition != recording.Running || first.Time != opened {
		t.Errorf("thread 1: %+v", first)
	}
	if second.Kind != recording.State || second.Condition != recording.Runnable {
		t.Errorf("thread 2: %+v", second)
	}
}

// A thread that is sampled on a core was switched in there.
func TestMissingSwitch(t *testing.T) {
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running), rec(kindState, 910, 0, 2, 0, waits),
		rec(kindWake, 1050, 0, 1, 2),
		rec(kindSample, 1500, 0, 2, 0),
		rec(kindWake, 1600, 0, 2, 1), // so 1 has waited
	}
	events, repaired := arrange(raw, newNumbers(nil), 0, opened, closed)
	if repaired != 1 || len(events) != 6 {
		t.Fatalf("%d added, events: %+v", repaired, events)
	}
	e := events[3]
	if e.Kind != recording.Switch || e.Thread != 0 || e.Other != 1 || e.Condition != recording.Waiting ||
		e.Time <= 1050 || e.Time > 1500 {
		t.Errorf("added %+v", e)
	}
}

// A wake-up from another core may have an earlier time than the switch to which it belongs.
func TestEarlyWake(t *testing.T) {
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running), rec(kindState, 910, 0, 2, 1, running),
		rec(kindWake, 1100, 1, 2, 1),
		rec(kindSwitch, 1101, 0, 1, idle, waits),
		rec(kindSwitch, 1300, 0, idle, 1),
	}
	events, repaired := arrange(raw, newNumbers(nil), 0, opened, closed)
	if repaired != 0 || len(events) != 5 {
		t.Fatalf("%d added, events: %+v", repaired, events)
	}
	if e := events[3]; e.Kind != recording.Wake || e.Time != 1101 || e.Other != 0 {
		t.Errorf("%+v", e)
	}
}

// A wake-up of a thread that runs means nothing.
func TestUselessWake(t *testing.T) {
	raw := []record{
		rec(kindState, 900, 0, 1, 0, running), rec(kindState, 910, 0, 2, 1, running),
		rec(kindWake, 1100, 1, 2, 1),
		rec(kindSwitch, 1200, 0, 1, idle, runnable), rec(kindSwitch, 1300, 0, idle, 1),
	}
	events, repaired := arrange(raw, newNumbers(nil), 0, opened, closed)
	if repaired != 0 || len(events) != 4 {
		t.Fatalf("%d added, events: %+v", repaired, events)
	}
}

// A thread that was made before the window does what the pass over all threads says. If it has run since it was made,
// that is known better.
func TestForkedBefore(t *testing.T) {
	kindFork := bpf.RecordRecordKindRECORD_FORK
	for _, c := range []struct {
		since []record
		want  recording.Condition
	}{
		{[]record{rec(kindState, 920, 0, 3, 0, waits)}, recording.Waiting},
		{[]record{rec(kindSwitch, 915, 0, 1, 3, runnable), rec(kindState, 920, 0, 3, 0, waits)}, recording.Running},
		{nil, recording.Runnable},
	} {
		raw := []record{rec(kindState, 900, 0, 1, 0, running), rec(kindFork, 910, 0, 1, 3)}
		events, _ := arrange(append(raw, c.since...), newNumbers(nil), 0, opened, closed)
		if len(events) != 2 || events[1].Kind != recording.State || events[1].Condition != c.want {
			t.Errorf("%v: %+v", c.want, events)
		}
	}
}

// A thread that may run on all cores that are on line is not bound, whatever whatif itself may run on.
func TestAllowed(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	var cores []int
	for cpu := range len(all) * 64 {
		if all.IsSet(cpu) {
			cores = append(cores, cpu)
		}
	}
	if got := allowed(0, cores); got != nil {
		t.Errorf("all of %v: %v", cores, got)
	}
	absent := cores[len(cores)-1] + 1
	if got := allowed(0, append(cores, absent)); len(got) != len(cores) {
		t.Errorf("without core %d: %v", absent, got)
	}
}
