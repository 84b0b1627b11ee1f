package experiment

import (
	"math"
	"testing"

	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

func togetherTable(t *testing.T) *unitTable {
	t.Helper()
	cfg := &Config{Kind: "line", Together: []float64{30, 50, 25}}
	cfg.Targets = targets(t, "src/a.c:10", "func:render", "wait:disk")
	table := newUnitTable(nil, cfg, nil, nil)
	table.addWaits()
	return table
}

// A combination is one candidate, and its selection has the units that were met so far, each with its amount.
func TestCombination(t *testing.T) {
	table := togetherTable(t)
	id := table.togetherID()
	u := table.units[id-1]
	const name = "src/a.c:10 by 30%, func:render by 50% and wait:disk by 25%, together"
	if u.Kind != profile.Together || u.Name != name {
		t.Errorf("%+v", u)
	}
	s := table.selection(id, 100)
	if len(s.Units) != 0 || s.Waits[ledger.WaitDisk] != 0.25 || s.Number != id {
		t.Errorf("before code was met: %+v", s)
	}
	if unmet := table.unmet(); len(unmet) != 2 || unmet[0] != 0 || unmet[1] != 1 {
		t.Errorf("not met: %v", unmet)
	}
	line := table.ofTarget(profile.Unit{Kind: "line", Name: "a.c:10", Line: 10}, 0)
	table.ofTarget(profile.Unit{Kind: "func", Name: "render"}, 1)
	other := table.number(profile.Unit{Kind: "line", Name: "a.c:11", Line: 11}, false, "")
	s = table.selection(id, 0) // a baseline has the same, to learn about it
	sum := 0.0
	for _, u := range s.Units {
		sum += u.By
		if u.Unit == other || u.Unit == line && u.By != 0.3 {
			t.Errorf("%+v", s)
		}
	}
	if len(s.Units) != 2 || math.Abs(sum-0.8) > 1e-9 || table.togetherUnits() != 3 {
		t.Errorf("%d units: %+v", table.togetherUnits(), s)
	}
	e := profile.Experiment{Samples: 100, RealNS: 1000, UnitSamples: map[uint32]int64{line: 30, line + 1: 90, other: 5},
		UnitWaits: map[uint32]int64{1: 400}}
	table.addTogether(&e)
	if e.UnitSamples[id] != 100 || e.UnitWaits[id] != 400 {
		t.Errorf("it took part: %v samples, %v ns", e.UnitSamples, e.UnitWaits)
	}
}

// The units of a combination are named as reports name units.
func TestPartsOf(t *testing.T) {
	cfg := &Config{Targets: targets(t, "src/a.c:10", "func:render", "func-self:draw", "draw<render", "wait:net")}
	for range cfg.Targets {
		cfg.Together = append(cfg.Together, 10)
	}
	want := [][2]string{
		{"line", "a.c:10"}, {"func", "render"}, {"func", "draw"}, {"path", "draw<render"}, {"wait", "wait:net"},
	}
	for i, p := range partsOf(cfg) {
		if p.Kind != want[i][0] || p.Name != want[i][1] || p.Percent != 10 || p.Target != cfg.Targets[i].Text {
			t.Errorf("%+v, want %v", p, want[i])
		}
	}
}

// On another machine classes are faster all the time, and what is selected is so on top. The number of each selection
// is its own.
func TestOnDevice(t *testing.T) {
	d := &profile.Standing{CPU: 0.5, Net: 0.2, Clock: 0.6}
	base := onDevice(d, ledger.Alone(7, 1), 0)
	if base.Code != 0.5 || len(base.Units) != 0 || base.Waits[ledger.WaitNet] != 0.2 ||
		base.Waits[ledger.WaitSleep] != 0.6 || base.Waits[ledger.WaitOther] != 0.6 || base.Waits[ledger.WaitDisk] != 0 {
		t.Errorf("a baseline: %+v", base)
	}
	net := ledger.Selection{Number: 8}
	net.Waits[ledger.WaitNet] = 0.5
	if on := onDevice(d, net, 50); math.Abs(on.Waits[ledger.WaitNet]-0.6) > 1e-9 || on.Code != 0.5 {
		t.Errorf("half of the net on top: %+v", on)
	}
	seen := map[uint32]bool{}
	for _, percent := range []int{0, 25, 100} {
		for _, unit := range []uint32{0, 7, uint32(ledger.MaxUnits - 1)} {
			n := onDevice(d, ledger.Alone(unit, 0.25), percent).Number
			if seen[n] || n < uint32(ledger.MaxUnits) {
				t.Errorf("unit %d at %d%%: number %d", unit, percent, n)
			}
			seen[n] = true
		}
	}
}

// Pairs of trials about two machines take turns, so that a baseline and its experiment are about one.
func TestWorldsTakeTurns(t *testing.T) {
	cfg := &Config{Speedups: []int{0, 50}, Seed: 3}
	none := func() uint32 { return 0 }
	l := &trialLoop{here: newWorld(cfg, nil, none), there: newWorld(cfg, &profile.Standing{Net: 0.5}, none)}
	one := func() []plan.Candidate { return []plan.Candidate{{Unit: 1, Samples: 1}} }
	for pair := range 8 {
		first := l.next()
		a := first.trials.draw(one)
		second := l.next()
		b := second.trials.draw(one)
		if first != second || (first == l.there) != (pair%2 == 1) || a.Pair != b.Pair {
			t.Errorf("pair %d: %+v and %+v", pair, a, b)
		}
		if first == l.there && (a.Placebo || b.Placebo) {
			t.Error("a placebo about another machine")
		}
	}
}
