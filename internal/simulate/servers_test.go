package simulate

import (
	"math/rand/v2"
	"testing"

	"whatif/internal/recording"
)

// aHost answers requests of several clients, each with an object of its own, in the order in which they come. think is
// for how long each client works before each of its requests, service for how long the host does. It returns when the
// last request is answered. With a tape, it records: of thread 0 and those of the clients, on a core each.
func aHost(service []float64, think [][]float64, twice bool, t *tape) (end float64) {
	comes := make([]float64, len(think)) // when the next request of each client does
	asked := make([]int, len(think))
	for c := range think {
		comes[c] = think[c][0]
	}
	for k := range service {
		c := 0
		for other := range think {
			if comes[other] < comes[c] {
				c = other
			}
		}
		thread, at := 1+c, max(end, comes[c])
		if t != nil && comes[c] > end {
			t.pause(end, 0, 0, 0, 0)
			t.resume(at, 0, thread, 0, 0)
			t.pause(at+1e-4, thread, thread, 1, thread)
		} else if t != nil {
			t.pause(comes[c], thread, thread, 1, thread)
		}
		if t != nil && twice { // the client's socket has room again
			t.resume(at+1e-3, thread, 0, thread, thread)
			t.pause(at+2e-3, thread, thread, 1, thread)
		}
		end = at + service[k]
		asked[c]++
		comes[c] = end + think[c][asked[c]]
		if t != nil {
			t.work(at, end, 0, 0)
			t.resume(end, thread, 0, thread, thread)
			t.visit(end, thread, 0)
			t.work(end, comes[c], thread, 2)
		}
	}
	return end
}

// TestServers: requests that came while the server was busy ended no wait, but a faster server has to wait for them.
func TestServers(t *testing.T) {
	const n = 800
	for _, clients := range []int{2, 4, 12} {
		for _, twice := range []bool{false, true} {
			r := rand.New(rand.NewPCG(uint64(clients), 5))
			service := drawn(r, n, 0.6, false)
			var think [][]float64
			for range clients {
				think = append(think, drawn(r, n+1, 0.35*float64(clients), true))
			}
			tape := newTape(1+clients, 1+clients, 1, 3)
			tape.Objects = nil
			tape.state(0, 0, recording.Running, recording.No)
			for i := range 1 + clients {
				tape.Objects = append(tape.Objects, recording.Object{Kind: recording.Socket, Address: uint64(1 + i)})
				if i > 0 {
					tape.state(i, i, recording.Running, recording.No)
				}
			}
			end := aHost(service, think, twice, tape)
			m := tape.machine(t, end)
			if d := m.Check(); m.servers != 1 || d.Stuck || d.Points[0] > 0.02 || d.Points[0] < -0.02 {
				t.Errorf("%d clients: %d servers, %.1f%% off", clients, m.servers, 100*d.Points[0])
			}
			for _, by := range []float64{0.25, 0.5, 0.75, 1} {
				truth := 100 * (1 - aHost(scaled(service, by), think, false, nil)/end)
				near(t, m, tape.unit(0), by, truth, 4, "%d clients, woken twice: %t", clients, twice)
			}
		}
	}
}

// TestNoServer: a stage of a pipeline lets both its neighbours go on, but does not wait for a word of theirs each time.
func TestNoServer(t *testing.T) {
	tape := newTape(3, 3, 1, 3)
	for i := range 3 {
		tape.state(i, i, recording.Running, recording.No)
	}
	for k := range 100 {
		at := 3 * float64(k)
		tape.work(at, at+3, 0, 0)
		tape.pause(at+1, 1, 1, 1, 0)
		tape.pause(at+2, 2, 2, 1, 1)
		tape.resume(at+2.5, 1, 0, 1, 0)
		tape.resume(at+3, 2, 0, 2, 1)
		tape.visit(at+3, 0, 0)
	}
	m := tape.machine(t, 299.9)
	if m.servers > 0 {
		t.Error("it is taken for a server")
	}
	want(t, m, tape.unit(0), 0, 3.5, 25, 50)
}
