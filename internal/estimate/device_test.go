package estimate

import (
	"math"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/simulate"
	"whatif/internal/testing/synthetic"
)

// slowNet is a device with half the processor and a quarter of the network and the disk.
var slowNet = simulate.Device{CPU: 0.5, Disk: 0.25, Net: 0.25}

// changeTo is the same device in the words of the synthetic machine, with a part of the first kind of code gone.
func changeTo(p *synthetic.Program, by float64) synthetic.Change {
	c := synthetic.Change{Kinds: make([]float64, p.Kinds), Computes: 1 - 1/slowNet.CPU, Disks: 1 - 1/slowNet.Disk,
		Nets: 1 - 1/slowNet.Net}
	c.Kinds[0] = by
	return c
}

// On a device, estimates of programs with a known truth are near it, and many intervals hold it: what half of a unit's
// time is worth there, and how much longer a visit takes there.
func TestOnDevice(t *testing.T) {
	programs := 4 * len(synthetic.Families())
	if testing.Short() {
		programs = len(synthetic.Families()) / 2
	}
	var gains, moves tally
	for seed := range uint64(programs) {
		p := synthetic.Random(seed)
		e, err := Open(p.Record(), Options{Kind: "func", Waiting: DefaultWaiting})
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		there, err := e.On(Device{Ratios: slowNet})
		if err != nil {
			t.Fatal(err)
		}
		u, err := there.Find("func:parse")
		if err != nil || there.Doubt() != "" {
			continue
		}
		slow, fast := p.Truth(changeTo(p, 0)), p.Truth(changeTo(p, 0.5))
		moved := there.Move()
		for i, a := range there.Ask(Question{Faster: []Faster{{u, 50}}}) {
			if a.Metric != analyze.Throughput || a.Refused != "" {
				continue
			}
			gain, ok := trueGain(there, i, synthetic.Truth{Same: slow.Changed, Changed: fast.Changed})
			move, also := trueGain(there, i, slow)
			if ok && also {
				gains.add(t, p, a.Gain, gain)
				moves.add(t, p, moved[i].Gain, move)
			}
		}
	}
	t.Logf("of %.0f estimates, gains are off by %.1f points, times per visit by %.1f%% of those here; the intervals hold "+
		"the truth of %.0f and %.0f", gains.n, gains.off/gains.n, moves.off/moves.n, gains.held, moves.held)
	if gains.n == 0 || gains.off/gains.n > 6 || moves.off/moves.n > 12 || min(gains.held, moves.held) < 0.85*gains.n {
		t.Error("estimates are far off")
	}
}

// tally is how estimates compare with truths.
type tally struct{ n, off, held float64 }

func (s *tally) add(t *testing.T, p *synthetic.Program, e analyze.Estimate, truth float64) {
	s.n++
	s.off += math.Abs(e.Value - truth)
	if e.Low <= truth && truth <= e.High {
		s.held++
		return
	}
	t.Logf("%v: %.1f (%.1f to %.1f), truth %.1f", p, e.Value, e.Low, e.High, truth)
}

func at(t *testing.T, e *Estimator, unit string, percent float64) analyze.Estimate {
	t.Helper()
	u, err := e.Find(unit)
	if err != nil {
		t.Fatal(err)
	}
	a := e.Ask(Question{Faster: []Faster{{u, percent}}})
	if a[0].Refused != "" {
		t.Fatal(a[0].Refused)
	}
	return a[0].Gain
}

// Where the network is slow the bottleneck is another one. VCoz's example.
func TestBottleneckMoves(t *testing.T) {
	e, err := Open(synthetic.Asking(2000e6).Record(), Options{Kind: "func", Waiting: DefaultWaiting})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		device      simulate.Device
		parse, wait float64 // gains of half of each
		slower      float64 // a visit takes so many times as long
	}{
		{simulate.Device{}, 27, 0, 1},                     // 3.0 and 2.2 ms
		{simulate.Device{CPU: 0.4}, 50, 0, 2.5},           // 7.5 and 2.5 ms
		{simulate.Device{Net: 0.25}, 0, 49, 8.2 / 3},      // 3.0 and 8.2 ms
		{simulate.Device{CPU: 0.4, Net: 0.4}, 27, 0, 2.5}, // only relative speeds matter
		{simulate.Device{CPU: 4}, 0, 49, 2.05 / 3},
	} {
		there, err := e.On(Device{Ratios: c.device})
		if err != nil {
			t.Fatal(err)
		}
		if g := at(t, there, "func:parse", 50); math.Abs(g.Value-c.parse) > 2 {
			t.Errorf("%+v: half of parse brings %.1f, want %v", c.device, g.Value, c.parse)
		}
		if g := at(t, there, "wait:net", 50); math.Abs(g.Value-c.wait) > 2 {
			t.Errorf("%+v: half of the network brings %.1f, want %v", c.device, g.Value, c.wait)
		}
		if m := there.Move()[0].Gain; math.Abs(1-m.Value/100-c.slower) > 0.03*c.slower {
			t.Errorf("%+v: a visit takes %.2f times as long, want %.2f", c.device, 1-m.Value/100, c.slower)
		}
	}
}

// Ratios that are not known well make gains unsure where they decide, and only there.
func TestUnsureRatios(t *testing.T) {
	e, err := Open(synthetic.Asking(2000e6).Record(), Options{Kind: "func", Waiting: DefaultWaiting})
	if err != nil {
		t.Fatal(err)
	}
	width := func(ratios, unsure simulate.Device) float64 {
		there, err := e.On(Device{Ratios: ratios, Unsure: unsure})
		if err != nil {
			t.Fatal(err)
		}
		all := there.All()
		for _, u := range all.Units {
			if u.Unit.Name == "parse" {
				for _, l := range u.Effects[0].Levels {
					if l.Speedup == 50 {
						g := at(t, there, "func:parse", 50)
						if math.Abs(g.Value-l.Gain.Value) > 1 || math.Abs(g.Half()-l.Gain.Half()) > 2 {
							t.Errorf("Ask says %v, All %v", g, l.Gain)
						}
						return l.Gain.Half()
					}
				}
			}
		}
		t.Fatal("no estimate for parse")
		return 0
	}
	close := simulate.Device{CPU: 0.7, Net: 0.5} // 4.3 and 4.3 ms: either may be the longer one
	if sure, not := width(close, simulate.Device{}), width(close, simulate.Device{Net: 0.2}); not < sure+4 {
		t.Errorf("±%.1f with ratios that are known, ±%.1f with ±20%% of the network's", sure, not)
	}
	far := simulate.Device{CPU: 0.2}
	if sure, not := width(far, simulate.Device{}), width(far, simulate.Device{Net: 0.2}); not > sure+1 {
		t.Errorf("±%.1f with ratios that are known, ±%.1f with ±20%% of one that does not matter", sure, not)
	}
}

func TestFewerCoresThanPinned(t *testing.T) {
	e, err := Open(synthetic.Asking(2000e6).Record(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.On(Device{Cores: 1}); err == nil || !strings.Contains(err.Error(), "pins its threads to 2 cores") {
		t.Errorf("error %v", err)
	}
	if !e.Uses("net") || e.Uses("disk") {
		t.Error("the program waits for a network, and for no disk")
	}
}

// The units of both machines are the same ones, and points have the rate of the device.
func TestUnitsOnBothMachines(t *testing.T) {
	e, err := Open(synthetic.Asking(2000e6).Record(), Options{Kind: "func", Waiting: DefaultWaiting, Least: 20})
	if err != nil {
		t.Fatal(err)
	}
	names := func(e *Estimator) (text string) {
		for _, u := range e.Units() {
			text += " " + u.Name
		}
		return text
	}
	alone := names(e)
	there, err := e.On(Device{Ratios: simulate.Device{Net: 0.1}}) // 3 ms of parse in a round of 20.2 ms
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names(there), "parse") || names(e) != alone {
		t.Errorf("units %q alone, %q here, %q there", alone, names(e), names(there))
	}
	here, slow := e.All().Points[0].Rate, there.All().Points[0].Rate
	if ratio := here / slow; math.Abs(ratio-20.2/3) > 0.3 {
		t.Errorf("a rate of %.1f here, %.1f there", here, slow)
	}
}
