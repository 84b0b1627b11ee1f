package simulate_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"whatif/internal/simulate"
	"whatif/internal/testing/synthetic"
)

// machines are the devices that programs are run on: in the words of the engine, and of the synthetic machine, where
// the same program really takes longer.
var machines = []simulate.Device{
	{CPU: 0.4},
	{CPU: 0.5, Disk: 0.25, Net: 0.25},
	{CPU: 2, Disk: 0.5, Net: 0.2, Wake: 0.5},
	{CPU: 0.7, Disk: 4, Net: 4, Wake: 2},
}

func change(d simulate.Device) synthetic.Change {
	gone := func(ratio float64) float64 {
		if ratio == 0 {
			return 0
		}
		return 1 - 1/ratio
	}
	return synthetic.Change{Computes: gone(d.CPU), Disks: gone(d.Disk), Nets: gone(d.Net), Wakes: gone(d.Wake)}
}

// onDevice is what became of one program on a device: by how much a unit's speed-up shortens a visit there, how many
// times as long as here a visit takes there.
type onDevice struct {
	text                 string
	refused              bool
	gain, truth          float64
	here                 float64 // the estimate without the device
	slower, reallySlower float64
	visits               int
}

// perVisit is the time per visit in ns, over the first visits of each window.
func perVisit(o simulate.Outcome, point int, most []int) float64 {
	time, visits := 0.0, 0
	for i := range o.Windows {
		list := o.Windows[i].Visits[point]
		if n := min(len(list), most[i]); n > 0 {
			time += float64(list[n-1].Time)
			visits += n
		}
	}
	return time / float64(visits)
}

// tryThere runs one generated program on a device, with half of one kind of code gone there.
func tryThere(seed uint64, d simulate.Device) (all []onDevice) {
	p := synthetic.Random(seed)
	r := p.Record()
	m, err := simulate.New(r)
	if err != nil {
		panic(err)
	}
	trusted, _ := m.Check().Trusted()
	there := change(d)
	there.Kinds = make([]float64, p.Kinds)
	faster := there
	faster.Kinds = make([]float64, p.Kinds)
	faster.Kinds[0] = 0.5
	unit := p.Asked(r, synthetic.Change{Kinds: faster.Kinds})
	onIt := unit
	onIt.Device = d
	outcomes := []simulate.Outcome{m.Run(simulate.Change{}), m.Run(unit), m.Run(simulate.Change{Device: d}), m.Run(onIt)}
	truth := p.Truth(there)
	fasterTruth := p.Truth(faster)
	outcomes = append(outcomes, truth.Same, truth.Changed, fasterTruth.Changed)
	for point := range r.Points {
		one := onDevice{text: fmt.Sprintf("%v on %+v, point %d", p, d, point),
			refused: !trusted || !m.Understood(outcomes[3]) || !m.Understood(outcomes[2])}
		var most []int
		for i := range r.Windows {
			n := math.MaxInt
			for _, o := range outcomes {
				n = min(n, len(o.Windows[i].Visits[point]))
			}
			most = append(most, n)
			one.visits += n
		}
		var took []float64
		for _, o := range outcomes {
			took = append(took, perVisit(o, point, most))
		}
		one.here = 100 * (1 - took[1]/took[0])
		one.gain, one.truth = 100*(1-took[3]/took[2]), 100*(1-took[6]/took[5])
		one.slower, one.reallySlower = took[2]/took[0], took[5]/took[4]
		all = append(all, one)
	}
	return all
}

// On another device, what a unit gains there and how much longer a visit takes are near the truth: that of the same
// programs with their computing, disks, networks and idle cores really slower or faster.
func TestDevice(t *testing.T) {
	n := 40 * len(synthetic.Families())
	if testing.Short() {
		n = len(synthetic.Families())
	}
	results := make([][]onDevice, n)
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := range next {
				results[seed] = tryThere(uint64(seed), machines[seed/len(synthetic.Families())%len(machines)])
			}
		})
	}
	for seed := range n {
		next <- seed
	}
	close(next)
	wait.Wait()
	const enough = 40 // visits
	var errors, slowness, without []float64
	refused := 0
	for _, r := range slices.Concat(results...) {
		switch {
		case r.refused:
			refused++
		case r.visits >= enough:
			e := math.Abs(r.gain - r.truth)
			errors, without = append(errors, e), append(without, math.Abs(r.here-r.truth))
			slowness = append(slowness, math.Abs(r.slower/r.reallySlower-1))
			if e > 8 || math.Abs(r.slower/r.reallySlower-1) > 0.1 {
				t.Logf("%s: gain %.1f for %.1f (here %.1f); a visit takes %.2f for %.2f times as long",
					r.text, r.gain, r.truth, r.here, r.slower, r.reallySlower)
			}
		}
	}
	t.Logf("%d programs, %d points compared, %d refused: gains there off by %.2f points (the answer here: %.2f), nine "+
		"of ten by %.1f at most; time per visit by %.1f%%, nine of ten by %.1f%% at most", n, len(errors), refused,
		mean(errors), mean(without), tenth(errors), 100*mean(slowness), 100*tenth(slowness))
	if mean(errors) > 4 || tenth(errors) > 10 || mean(slowness) > 0.05 {
		t.Error("too far off")
	}
}
