package simulate

import (
	"testing"

	"whatif/internal/recording"
)

// busyTape is 5 s with 100,000 switches and wake-ups.
func busyTape() *tape {
	t := newTape(2, 2, 1, 2)
	t.Objects[0].Kind, t.Objects[1].Kind = recording.Pipe, recording.Pipe
	t.state(0, 0, recording.Running, recording.No)
	t.state(1, 1, recording.Waiting, 0)
	for i := range 16000 {
		at := 0.3 * float64(i)
		t.work(at, at+0.1, 0, 0)
		t.resume(at+0.1, 1, 0, 1, 0)
		t.pause(at+0.1, 0, 0, 0, 1)
		t.work(at+0.1, at+0.3, 1, 1)
		t.resume(at+0.3, 0, 1, 0, 1)
		t.pause(at+0.3, 1, 1, 1, 0)
		t.visit(at+0.3, 0, 0)
	}
	return t
}

func BenchmarkNew(b *testing.B) {
	tape := busyTape()
	tape.machine(b, 4800)
	b.ReportMetric(float64(len(tape.Windows[0].Events)), "events")
	for b.Loop() {
		if _, err := New(&tape.Recording); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	tape := busyTape()
	m := tape.machine(b, 4800)
	c := Change{Faster: []Faster{{Unit: tape.unit(1), By: 0.5}}}
	b.ReportAllocs()
	for b.Loop() {
		m.Run(c)
	}
}
