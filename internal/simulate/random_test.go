package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// nonsense makes a recording of events that name things which are there, and make no sense otherwise.
func nonsense(seed uint64) *recording.Recording {
	r := rand.New(rand.NewPCG(seed, 1))
	threads := 1 + r.IntN(6)
	t := newTape(1+r.IntN(3), threads, 2, 3)
	for i := range t.Threads {
		t.Threads[i].Goroutine = r.IntN(4) == 0
		t.Threads[i].Nice = int8(r.IntN(20) - 10)
		if r.IntN(3) == 0 {
			t.Threads[i].Allowed = []int16{int16(r.IntN(3))}
		}
	}
	kinds := []recording.ObjectKind{recording.Unknown, recording.Futex, recording.Pipe, recording.Channel,
		recording.Process}
	t.Objects[0].Kind, t.Objects[1].Kind = kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]
	if r.IntN(2) == 0 {
		t.Frames[0].Function = []string{"pthread_barrier_wait", "pthread_mutex_lock", "pthread_cond_wait"}[r.IntN(3)]
	}
	for range 1 + r.IntN(2) {
		w := recording.Window{Begin: t.Length}
		at := w.Begin
		for range r.IntN(400) {
			at += r.Int64N(1e5) * r.Int64N(3)
			w.Events = append(w.Events, recording.Event{Time: at, Kind: recording.Kind(r.IntN(int(recording.Ready) + 1)),
				Thread: int32(r.IntN(threads+2) - 2), Other: int32(r.IntN(threads+2) - 2), CPU: int16(r.IntN(3)),
				Place: int32(r.IntN(4) - 1), Object: int32(r.IntN(3) - 1), Stack: int32(r.IntN(4) - 1),
				Point: int32(r.IntN(3) - 1), Condition: recording.Condition(r.IntN(4)),
				Cause: recording.Cause(r.IntN(4)), Class: recording.Class(r.IntN(int(recording.Classes))),
				Role: recording.Role(r.IntN(3)), Key: uint64(r.IntN(3))})
		}
		w.End = at + r.Int64N(1e6)
		t.Length = w.End
		t.Windows = append(t.Windows, w)
	}
	return &t.Recording
}

// Whatever is recorded, a run ends, and says nothing impossible.
func TestNonsense(t *testing.T) {
	n := uint64(20000)
	if testing.Short() {
		n = 1500
	}
	for seed := range n {
		r := nonsense(seed)
		m, err := New(r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		m.Check()
		for _, by := range []float64{0, 0.5, 1, -1} {
			u := Unit{Stacks: []bool{true, false, true}}
			u.Classes[recording.Sleep], u.Classes[recording.Lock] = true, seed%2 == 0
			c := Change{Faster: []Faster{{Unit: u, By: by}}, Cores: int(seed % 4)}
			if seed%3 == 0 {
				c.Device = Device{CPU: 0.3, Disk: 5, Net: 0.01, Wake: 0.5}
			}
			o := m.Run(c)
			possible(t, seed, r, o, int(seed%4))
		}
	}
}

func possible(t *testing.T, seed uint64, r *recording.Recording, o Outcome, cores int) {
	t.Helper()
	if cores == 0 {
		cores = max(3, r.Cores)
	}
	for _, w := range o.Windows {
		if w.Length < 0 || w.Busy < 0 || w.Busy > w.Length*int64(cores)+1000 {
			t.Fatalf("seed %d: busy for %d of %d ns on %d cores", seed, w.Busy, w.Length, cores)
		}
		for _, visits := range w.Visits {
			if !slices.IsSortedFunc(visits, func(a, b Visit) int { return int(a.Time - b.Time) }) {
				t.Fatalf("seed %d: visits are not in order of time", seed)
			}
			for _, v := range visits {
				if v.Time < 0 || v.Time > w.Length || v.Latency < recording.No {
					t.Fatalf("seed %d: visit at %d with latency %d in %d ns", seed, v.Time, v.Latency, w.Length)
				}
			}
		}
	}
}
