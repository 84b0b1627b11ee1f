package estimate

import (
	"math"
	"testing"

	"whatif/internal/recording"
	"whatif/internal/simulate"
	"whatif/internal/testing/synthetic"
)

// waiting is a recording the code of which waits for memory as said: of 100 samples so many behind an access, nearby
// percent of the instructions, and readings that take so many ns longer than at once again.
func waiting(behind, nearby int, young, old int) *recording.Recording {
	r := &recording.Recording{Cores: 1, Period: 1e6, Length: 1e9, Cache: 2 << 20, Threads: []recording.Thread{{}},
		Frames: []recording.Frame{
			{Function: "walk", Binary: "/a", Access: recording.BehindAccess, Nearby: uint8(nearby + 1)},
			{Function: "walk", Binary: "/a", Access: recording.NoAccess, Nearby: uint8(nearby + 1)}},
		Stacks: []recording.Stack{{0}, {1}}}
	w := recording.Window{End: 1e9}
	for i := range 1000 {
		e := recording.Event{Kind: recording.Sample, Time: int64(i) * 1e6}
		if i*37%100 >= behind {
			e.Stack = 1
		}
		const again = 80
		if young >= 0 {
			e.Key = uint64(young+again) | uint64(old+again)<<16 | again<<48
		}
		w.Events = append(w.Events, e)
	}
	r.Windows = []recording.Window{w}
	return r
}

func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name                       string
		behind, nearby, young, old int
		low, high                  float64 // between which the share is
	}{
		{"a walk through memory", 100, 33, 100, 190, 90, 100},
		{"the same in the second cache", 100, 33, 36, 40, 0, 15},
		{"computing on a stream", 6, 9, 40, 190, 0, 2},
		{"a table in the first cache, and a stream", 89, 22, 39, 110, 0, 40},
		{"many accesses of the first cache", 80, 57, 33, 34, 0, 10},
		{"half of the time", 75, 33, 300, 240, 40, 60},
		{"no readings", 100, 33, -1, -1, 40, 60},
	} {
		r := waiting(c.behind, c.nearby, c.young, c.old)
		m := measureMemory(r)
		e := m.of(nil, measureTimes(r).samples)
		if !e.Known || !e.Bounded || e.Value < c.low || e.Value > c.high || e.Low > e.Value || e.High < e.Value ||
			e.Low < 0 || e.High > 100 {
			t.Errorf("%s: %+v, want %v to %v", c.name, e, c.low, c.high)
		}
		if c.young < 0 && (e.Low > 0 || e.High < 99) {
			t.Errorf("%s: sure of %+v", c.name, e)
		}
	}
}

// What is not known is said.
func TestMemoryUnknown(t *testing.T) {
	r := waiting(100, 33, 100, 190)
	for i := range r.Frames {
		r.Frames[i].Access = recording.UnknownAccess
	}
	m := measureMemory(r)
	if e := m.of(nil, measureTimes(r).samples); m.known || e.Known {
		t.Errorf("%+v of code that is not known", e)
	}
	r.Frames = append(r.Frames, recording.Frame{Function: "other"})
	r.Stacks = append(r.Stacks, recording.Stack{2}, nil)
	r = waiting(100, 33, 100, 190)
	m = measureMemory(r)
	if e := m.of([]bool{false, false}, []int64{1, 1}); e.Known {
		t.Errorf("%+v of no code", e)
	}
}

// On a device with another speed of memory, time that waits for memory takes as much longer, and the rest does not.
func TestMemoryOnDevice(t *testing.T) {
	r := synthetic.Asking(2000e6).Record()
	e, err := Open(r, Options{Kind: "func", Waiting: DefaultWaiting})
	if err != nil {
		t.Fatal(err)
	}
	share := make([]float64, len(r.Stacks))
	for i := range share {
		share[i] = 0.5
	}
	e.memory = memoryWaits{known: true, share: [3][]float64{make([]float64, len(share)), share, share}}
	there, err := e.On(Device{Ratios: simulate.Device{CPU: 1, Memory: 0.25}})
	if err != nil {
		t.Fatal(err)
	}
	// 3.0 ms of computing, half of which takes four times as long: 7.5 ms; at least 3.0.
	m := there.Move()[0].Gain
	if math.Abs(1-m.Value/100-2.5) > 0.1 || m.Low > -150 || m.High < -5 {
		t.Errorf("a visit takes %.2f times as long (%+v)", 1-m.Value/100, m)
	}
	if g := at(t, there, "func:parse", 50); math.Abs(g.Value-50) > 2 || g.Low > 30 {
		t.Errorf("half of parse brings %+v", g)
	}
	same, err := e.On(Device{Ratios: simulate.Device{CPU: 0.4, Memory: 0.4}})
	if err != nil {
		t.Fatal(err)
	}
	if m := same.Move()[0].Gain; math.Abs(1-m.Value/100-2.5) > 0.1 {
		t.Errorf("with the processor's ratio a visit takes %.2f times as long", 1-m.Value/100)
	}
}
