package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// aHost answers requests of several clients, each with an object of its own, in the order in which they come. think is
// for how long each client works before each of its requests, service for how long a thread of the host does. It
// returns when all requests are answered. With a tape, it records: of the host's threads and then those of the clients,
// on a core each.
func aHost(threads int, service []float64, think [][]float64, twice bool, t *tape) (end float64) {
	comes := make([]float64, len(think)) // when the next request of each client does
	asked := make([]int, len(think))
	for c := range think {
		comes[c] = think[c][0]
	}
	free := make([]float64, threads) // when each of them is
	for k := range service {
		c, host := leastOf(comes), leastOf(free)
		client, was, at := threads+c, free[host], max(free[host], comes[c])
		if t != nil && comes[c] > was {
			t.pause(was, host, host, 0, 0)
			t.resume(at, host, client, host, 0)
			t.pause(at+1e-4, client, client, 1, client)
		} else if t != nil {
			t.pause(comes[c], client, client, 1, client)
		}
		if t != nil && twice { // the client's socket has room again
			t.resume(at+1e-3, client, host, client, client)
			t.pause(at+2e-3, client, client, 1, client)
		}
		free[host] = at + service[k]
		asked[c]++
		comes[c] = free[host] + think[c][asked[c]]
		if t != nil {
			t.work(at, free[host], host, 0)
			t.resume(free[host], client, host, client, client)
			t.visit(free[host], client, 0)
			t.work(free[host], comes[c], client, 2)
		}
	}
	return slices.Max(free)
}

// leastOf is the place of the least number.
func leastOf(list []float64) int { return slices.Index(list, slices.Min(list)) }

// TestServers: requests that came while the server was busy ended no wait, but a faster server has to wait for them.
func TestServers(t *testing.T) {
	const n = 800
	for _, test := range []struct {
		threads, clients int
		twice            bool
	}{
		{1, 2, false}, {1, 4, false}, {1, 12, false}, {1, 2, true}, {1, 4, true}, {1, 12, true},
		{2, 4, false}, {2, 12, false}, {3, 8, false}, {2, 4, true}, {3, 8, true},
	} {
		r := rand.New(rand.NewPCG(uint64(test.clients), 5))
		service := drawn(r, n, 0.6*float64(test.threads), false)
		var think [][]float64
		for range test.clients {
			think = append(think, drawn(r, n+1, 0.35*float64(test.clients), true))
		}
		all := test.threads + test.clients
		tape := newTape(all, all, 1, 3)
		tape.Objects = nil
		for i := range all {
			tape.Objects = append(tape.Objects, recording.Object{Kind: recording.Socket, Address: uint64(1 + i)})
			tape.state(i, i, recording.Running, recording.No)
		}
		end := aHost(test.threads, service, think, test.twice, tape)
		m := tape.machine(t, end)
		if d := m.Check(); m.servers != 1 || d.Stuck || d.Points[0] > 0.02 || d.Points[0] < -0.02 {
			t.Errorf("%+v: %d servers, %.1f%% off", test, m.servers, 100*d.Points[0])
		}
		for _, by := range []float64{0.25, 0.5, 0.75, 1} {
			truth := 100 * (1 - aHost(test.threads, scaled(service, by), think, false, nil)/end)
			near(t, m, tape.unit(0), by, truth, 4, "%+v", test)
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
