package analyze

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"whatif/internal/profile"
)

// effect analyses one run of a world and returns the first unit's effect.
func effect(t *testing.T, runs ...*profile.Data) (*Result, *Effect) {
	t.Helper()
	res := Analyze(runs, Options{Simulated: true})
	for i := range res.Targets {
		if res.Targets[i].Unit.Line == 1 {
			return res, &res.Targets[i].Effects[0]
		}
	}
	t.Fatal("no unit 1 in the result")
	return nil, nil
}

func codes(w []Warning) (c []string) {
	for _, x := range w {
		c = append(c, x.Code)
	}
	return c
}

// TestKnownTruth compares curves and verdicts of single runs with the truth, with little noise.
func TestKnownTruth(t *testing.T) {
	for _, test := range []struct {
		name    string
		code    code
		verdict Verdict
		warning string
	}{
		{"linear", code{share: 0.6, gain: linear(0.6)}, Faster, ""},
		{"plateau", code{share: 0.6, gain: plateau(0.6, 0.2)}, Faster, ""},
		{"peak", code{share: 0.5, gain: peak(0.2)}, Faster, ""},
		{"peak then loss", code{share: 0.5, gain: func(s float64) float64 { return 0.5 * s * (0.5 - s) }}, Slower, "bends"},
		{"down", code{share: 0.3, gain: linear(-0.2)}, Slower, ""},
		{"none", code{share: 0.3, gain: linear(0)}, None, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := world{pairs: 150, units: []code{test.code}, noise: 0.01, targets: true, drift: 0.02}
			_, e := effect(t, w.run(7))
			if e.Verdict != test.verdict {
				t.Errorf("verdict %s, want %s; slope %+v", e.Verdict, test.verdict, e.Slope)
			}
			for _, l := range e.Curve {
				want := 100 * test.code.gain(float64(l.Speedup)/100)
				if math.Abs(l.Gain.Value-want) > 2 || !l.Gain.Bounded {
					t.Errorf("gain at %d%%: %+v, want %.1f", l.Speedup, l.Gain, want)
				}
			}
			if len(e.Marks) != 4 {
				t.Errorf("%d marks, want 4", len(e.Marks))
			}
			if test.warning != "" && !slices.Contains(codes(e.Warnings), test.warning) {
				t.Errorf("warnings %v, want %s", e.Warnings, test.warning)
			}
		})
	}
}

// TestDriftIsFollowed: without noise the answer is exact, however the machine's speed drifts.
func TestDriftIsFollowed(t *testing.T) {
	w := world{pairs: 200, units: []code{{share: 1, gain: linear(0.5)}}, targets: true}
	d := w.run(1)
	for i := range d.Experiments {
		// Twice as slow at the end as in the beginning.
		slow := 1 + float64(i)/float64(len(d.Experiments))
		d.Experiments[i].Points[0].Weight /= slow
	}
	res, e := effect(t, d)
	if math.Abs(e.Slope.Value-0.5) > 0.002 || e.Slope.High-e.Slope.Low > 0.02 {
		t.Errorf("slope %+v, want 0.5", e.Slope)
	}
	if !slices.Contains(codes(res.Points[0].Warnings), "drift") {
		t.Errorf("warnings %v, want drift", res.Points[0].Warnings)
	}
}

func TestMergingRuns(t *testing.T) {
	w := world{pairs: 40, units: []code{{share: 0.6, gain: linear(0.6)}, {share: 0.2, gain: linear(0)}}, noise: 0.02,
		targets: true}
	a, b := w.run(1), w.run(2)
	// The second run is on a machine of three times the speed, and has other unit numbers.
	b.Units[1], b.Units[2] = b.Units[2], b.Units[1]
	swap := func(id uint32) uint32 { return [3]uint32{0, 2, 1}[id] }
	for i := range b.Experiments {
		e := &b.Experiments[i]
		e.Unit = swap(e.Unit)
		e.Points[0].Weight *= 3
		samples := map[uint32]int64{}
		for id, n := range e.UnitSamples {
			samples[swap(id)] = n
		}
		e.UnitSamples = samples
	}
	for id, u := range b.Units {
		u.ID = id
		b.Units[id] = u
	}
	res, e := effect(t, a, b)
	if len(res.Targets) != 2 || len(res.Points) != 1 || len(res.Runs) != 2 {
		t.Fatalf("%d targets, %d points, %d runs", len(res.Targets), len(res.Points), len(res.Runs))
	}
	if math.Abs(e.Slope.Value-0.6) > 0.06 {
		t.Errorf("slope %+v, want 0.6", e.Slope)
	}
	_, one := effect(t, a)
	if e.Slope.High-e.Slope.Low > 0.9*(one.Slope.High-one.Slope.Low) {
		t.Errorf("two runs %+v are hardly more precise than one %+v", e.Slope, one.Slope)
	}
	if got := res.Targets[0].Share; math.Abs(got-60) > 3 {
		t.Errorf("share %.1f, want 60", got)
	}
}

func TestSetAside(t *testing.T) {
	w := world{pairs: 60, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: 0.01, targets: true}
	d := w.run(3)
	n := 0
	for i := range d.Experiments {
		if i%3 == 0 {
			e := &d.Experiments[i]
			e.SetAside = "steal"
			e.Points[0].Weight = 0 // would ruin everything if it were used
			n++
		}
	}
	res, e := effect(t, d)
	if res.SetAside["steal"] != n || res.Experiments+res.Baselines+n != 120 {
		t.Errorf("set aside %v, used %d and %d", res.SetAside, res.Experiments, res.Baselines)
	}
	if math.Abs(e.Slope.Value-0.6) > 0.03 {
		t.Errorf("slope %+v, want 0.6", e.Slope)
	}
	if c := codes(res.Warnings); !slices.Contains(c, "set-aside") {
		t.Errorf("warnings %v, want set-aside", c)
	}
}

// TestRarePoint: a rare point must not change another point's data, and has a result of its own if
// it has enough visits in all.
func TestRarePoint(t *testing.T) {
	w := world{pairs: 300, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: 0.01, targets: true}
	rare := w
	rare.rate, rare.chance = 3, true
	d, r := w.run(4), rare.run(4)
	d.Run.Points = append(d.Run.Points, profile.Point{Name: "rare", Kind: "func"},
		profile.Point{Name: "never", Kind: "func"})
	for i := range d.Experiments {
		e := &d.Experiments[i]
		v := r.Experiments[i].Points[0]
		v.WindowNS = e.Points[0].WindowNS
		e.Points = append(e.Points, v, profile.Visits{WindowNS: v.WindowNS})
	}
	res, e := effect(t, d)
	if math.Abs(e.Slope.Value-0.6) > 0.02 {
		t.Errorf("slope %+v, want 0.6", e.Slope)
	}
	few := res.Targets[0].Effects[1]
	if !few.Slope.Bounded || few.Slope.Low > 0.6 || few.Slope.High < 0.6 || few.Slope.Half() > 0.5 {
		t.Errorf("rare point's slope %+v, want about 0.6", few.Slope)
	}
	if c := codes(res.Points[1].Warnings); !slices.Contains(c, "few-visits") {
		t.Errorf("rare point's warnings %v", c)
	}
	if c := codes(res.Warnings); !slices.Contains(c, "never-visited") {
		t.Errorf("warnings %v, want never-visited", c)
	}
	if never := res.Targets[0].Effects[2]; never.Verdict != Unsure || never.Slope.Known || len(never.Curve) != 0 {
		t.Errorf("never visited, yet %+v", never)
	}
}

func TestFewExperiments(t *testing.T) {
	w := world{pairs: 60, levels: []int{50}, units: []code{{share: 0.6, gain: linear(0.6)}, {share: 0.2, gain: linear(0)}},
		noise: 0.01, targets: true}
	for _, keep := range []int{0, 1, 2, 3} {
		d := w.run(5)
		var left []profile.Experiment
		n := 0
		for _, e := range d.Experiments {
			if e.Unit == 1 {
				if n++; n > keep {
					continue
				}
			}
			left = append(left, e)
		}
		d.Experiments = left
		_, e := effect(t, d)
		if e.Experiments != keep || e.Slope.Known != (keep > 0) || e.Slope.Bounded != (keep >= leastTrials) {
			t.Errorf("%d experiments: %d counted, slope %+v", keep, e.Experiments, e.Slope)
		}
		if keep < leastTrials && e.Verdict != Unsure {
			t.Errorf("%d experiments: verdict %s", keep, e.Verdict)
		}
		if keep > 0 && math.Abs(e.Slope.Value-0.6) > 0.1 {
			t.Errorf("%d experiments: slope %+v, want 0.6", keep, e.Slope)
		}
	}
}

func TestNoBaselines(t *testing.T) {
	w := world{pairs: 20, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: 0.01, targets: true}
	d := w.run(6)
	d.Experiments = slices.DeleteFunc(d.Experiments, func(e profile.Experiment) bool { return e.IsBaseline() })
	res, e := effect(t, d)
	if e.Verdict != Unsure || e.Slope.Known {
		t.Errorf("without baselines: %+v", e)
	}
	if c := codes(res.Warnings); !slices.Contains(c, "no-baseline") {
		t.Errorf("warnings %v, want no-baseline", c)
	}
	if res.Targets[0].Share < 50 {
		t.Errorf("share %.1f: without baselines it comes from all samples", res.Targets[0].Share)
	}
}

func TestNothing(t *testing.T) {
	res := Analyze(nil, Options{Simulated: true})
	if !slices.Contains(codes(res.Warnings), "no-data") {
		t.Errorf("warnings %v", res.Warnings)
	}
	d := &profile.Data{Run: profile.Run{Points: []profile.Point{{Name: "p"}}},
		Units: map[uint32]profile.Unit{1: {ID: 1, Name: "x"}}, Torn: true}
	res = Analyze([]*profile.Data{d}, Options{Simulated: true})
	if len(res.Targets) != 1 || res.Targets[0].Effects[0].Verdict != Unsure {
		t.Errorf("targets %+v", res.Targets)
	}
	for _, want := range []string{"no-data", "never-visited", "torn"} {
		if !slices.Contains(codes(res.Warnings), want) {
			t.Errorf("warnings %v, want %s", codes(res.Warnings), want)
		}
	}
}

func TestPhases(t *testing.T) {
	w := world{pairs: 200, noise: 0.01, units: []code{
		{share: 0.6, gain: linear(0.6), on: cycle(6, 2)},
		{share: 0.2, gain: linear(0.2)}, {share: 0.1, gain: linear(0)}}}
	res, e := effect(t, w.run(8))
	if math.Abs(e.Slope.Value-0.2) > 0.05 || e.Slope.Low > 0.2 || e.Slope.High < 0.2 {
		t.Errorf("slope %+v, want 0.6/3", e.Slope)
	}
	if math.Abs(e.Phase-1./3) > 0.08 || !slices.Contains(codes(e.Warnings), "phases") {
		t.Errorf("phase factor %.2f, want a third; warnings %v", e.Phase, e.Warnings)
	}
	for i := range res.Targets {
		if tg := &res.Targets[i]; tg.Unit.Line != 1 && tg.Effects[0].Phase != 1 {
			t.Errorf("%s runs all the time, phase factor %.2f", tg.Unit.Name, tg.Effects[0].Phase)
		}
	}
	// With -t units are not selected by phase, so nothing is corrected.
	w.targets = true
	if _, e := effect(t, w.run(8)); e.Phase != 1 || math.Abs(e.Slope.Value-0.2) > 0.08 {
		t.Errorf("named unit: phase factor %.2f, slope %+v", e.Phase, e.Slope)
	}
}

// TestPhasesOfAllTheTime: a unit that is all of the program while it runs leaves no virtual time at 100%.
func TestPhasesOfAllTheTime(t *testing.T) {
	w := world{pairs: 200, levels: []int{25, 50, 100}, noise: 0.01, units: []code{
		{share: 1, gain: linear(1), on: cycle(6, 2)}, {share: 0.5, gain: linear(0)}}}
	_, e := effect(t, w.run(8))
	last := e.Marks[len(e.Marks)-1]
	if g := last.Gain; last.Speedup != 100 || math.Abs(g.Value-100./3) > 8 || g.Low > 100./3 || g.High < 100./3 {
		t.Errorf("at %d%%: %+v, want a third", last.Speedup, g)
	}
}

// TestPhasesWithoutSamples: the unit did not run in any of its experiments, so they say nothing.
func TestPhasesWithoutSamples(t *testing.T) {
	w := world{pairs: 100, noise: 0.01, units: []code{
		{share: 0.6, gain: linear(0.6), on: cycle(6, 2)}, {share: 0.2, gain: linear(0)}}}
	d := w.run(8)
	for i := range d.Experiments {
		if e := &d.Experiments[i]; e.Unit == 1 {
			delete(e.UnitSamples, 1)
			like := d.Experiments[(i+2)%len(d.Experiments)&^1+1] // whatever it is, some other time
			if !like.IsBaseline() {
				like = d.Experiments[(i+2)%len(d.Experiments)&^1]
			}
			e.RealNS, e.DelayNS, e.Points = like.RealNS, like.DelayNS, like.Points
		}
	}
	_, e := effect(t, d)
	if !e.Slope.Known || !e.Slope.Bounded || e.Verdict != Unsure {
		t.Errorf("slope %+v, verdict %v", e.Slope, e.Verdict)
	}
}

func TestRanking(t *testing.T) {
	w := world{pairs: 400, noise: 0.01, targets: true, units: []code{
		{share: 0.1, gain: linear(0.05)}, // faster, a little
		{share: 0.2, gain: linear(-0.1)}, // slower
		{share: 0.3, gain: linear(0)},    // none
		{share: 0.3, gain: linear(0.3)},  // faster
	}}
	d := w.run(9)
	d.Units[5] = profile.Unit{ID: 5, Kind: "line", Name: "a.c:5", Line: 5} // never tried
	res := Analyze([]*profile.Data{d}, Options{Simulated: true})
	var order []int
	for _, t := range res.Targets {
		order = append(order, t.Unit.Line)
	}
	if !slices.Equal(order, []int{4, 1, 2, 3, 5}) {
		t.Errorf("order of lines %v, want 4 1 2 3 5", order)
	}
}

func TestDeterministic(t *testing.T) {
	w := world{pairs: 100, noise: 0.05, tails: 3, units: []code{{share: 0.6, gain: linear(0.6), on: cycle(3, 1)},
		{share: 0.2, gain: linear(0)}, {share: 0.1, gain: linear(0)}}}
	d := w.run(10)
	first := Analyze([]*profile.Data{d}, Options{Simulated: true})
	for range 5 {
		if again := Analyze([]*profile.Data{d}, Options{Simulated: true}); !reflect.DeepEqual(first, again) {
			t.Fatal("the same data give another result")
		}
	}
}

func TestDoubts(t *testing.T) {
	w := world{pairs: 30, noise: 0.01, targets: true, units: []code{{share: 0.6, gain: linear(0.6)}}}
	d := w.run(11)
	for i := range d.Experiments {
		e := &d.Experiments[i]
		e.ForeignNS = e.RealNS / 2
		e.StealNS = e.RealNS / 5
		e.OwnNS = e.RealNS / 10
		e.UnpaidNS = e.RealNS / 10
		e.Wakes, e.NetworkWakes = 200, 30
		e.Losses = map[string]int64{"map full": 2, "nothing": 0}
		e.SpinNS = 10e6
		e.SpinTurns = 1000
		if i%5 == 0 {
			e.SpinTurns = 500
		}
	}
	d.Warnings = []profile.Warning{{Code: "x", Text: "said by the runner"}}
	res, _ := effect(t, d, d)
	all := strings.Join(codes(res.Warnings), " ")
	if all != "x foreign-cpu steal own-cpu remote-clients unpaid hidden-contention losses" {
		t.Errorf("warnings: %s", all)
	}
	for _, w := range res.Warnings {
		if w.Code == "losses" &&
			w.Text != "the kernel side had no room for some events, which gains do not count: map full 240" {
			t.Errorf("losses: %s", w.Text)
		}
	}
}

// TestUnitDoubts: if one unit's experiments were disturbed, that unit has a warning, and no other.
func TestUnitDoubts(t *testing.T) {
	w := world{pairs: 100, noise: 0.01, targets: true, units: []code{{share: 0.3, gain: linear(0.3)},
		{share: 0.3, gain: linear(0.1)}, {share: 0.3, gain: linear(0)}}}
	d := w.run(13)
	for i := range d.Experiments {
		if e := &d.Experiments[i]; e.Unit == 2 {
			e.ForeignNS, e.StealNS, e.UnpaidNS = e.RealNS/2, e.RealNS/5, e.RealNS/8
		}
	}
	res, _ := effect(t, d)
	for _, tg := range res.Targets {
		want := ""
		if tg.Unit.Line == 2 {
			want = "unpaid foreign-cpu steal"
		}
		if got := strings.Join(codes(tg.Warnings), " "); got != want {
			t.Errorf("line %d: warnings %q, want %q", tg.Unit.Line, got, want)
		}
	}
}

func TestPartners(t *testing.T) {
	b, e := profile.Experiment{}, profile.Experiment{Unit: 1, Speedup: 50}
	with := func(x profile.Experiment, pair int) profile.Experiment { x.Pair = pair; return x }
	for _, c := range []struct {
		exps []profile.Experiment
		want []int
	}{
		{[]profile.Experiment{b, e, e, b, b, e}, []int{-1, 0, 3, -1, -1, 4}},
		{[]profile.Experiment{e, e, b, b, e}, []int{-1, 2, -1, -1, 3}},
		{[]profile.Experiment{with(b, 1), with(b, 2), with(e, 1), with(e, 2), b, e}, []int{-1, -1, 0, 1, -1, -1}},
		{nil, []int{}},
	} {
		if got := partners(c.exps); !slices.Equal(got, c.want) {
			t.Errorf("partners %v, want %v", got, c.want)
		}
	}
}
