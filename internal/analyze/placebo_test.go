package analyze

import (
	"slices"
	"testing"

	"whatif/internal/profile"
)

// placeboUnit is the unit of a world that becomes a placebo.
const placeboUnit = 2

func becomePlacebo(d *profile.Data) {
	u := d.Units[placeboUnit]
	u.Kind = profile.Placebo
	d.Units[placeboUnit] = u
}

// TestPlacebo: a placebo is not in the table, and there is a warning where it does something, and
// nowhere else.
func TestPlacebo(t *testing.T) {
	run := func(gain float64, pairs int, seed uint64) *Result {
		w := world{pairs: pairs, levels: []int{50}, noise: 0.03,
			units: []code{{share: 0.9, gain: linear(0.5)}, {share: 0.1, gain: linear(gain)}}}
		d := w.run(seed)
		becomePlacebo(d)
		return Analyze([]*profile.Data{d}, Options{})
	}
	warned := func(r *Result) bool {
		return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == "placebo" })
	}
	sims := simulations(200)
	wrong, missed := 0, 0
	for seed := range uint64(sims) {
		r := run(0, 100, seed)
		if len(r.Targets) != 1 || r.Targets[0].Unit.Line != 1 || r.Placebo == nil || r.Placebo.Unit.Kind != profile.Placebo {
			t.Fatalf("targets %v, placebo %v", r.Targets, r.Placebo)
		}
		if warned(r) {
			wrong++
		}
		if !warned(run(-0.3, 100, seed)) {
			missed++
		}
	}
	t.Logf("of %d placebos without an effect %d are warned of, of as many with -15%% %d are not", sims, wrong, missed)
	if 20*wrong > sims || 20*missed > sims {
		t.Error("more than one of twenty")
	}
	for seed := range uint64(20) {
		if r := run(-0.3, 10, seed); r.Placebo != nil && r.Placebo.Tried < leastTrials && warned(r) {
			t.Errorf("warned of after %d experiments", r.Placebo.Tried)
		}
	}
	r := (&world{pairs: 20, units: []code{{share: 1, gain: linear(0)}}}).run(1)
	if Analyze([]*profile.Data{r}, Options{}).Placebo != nil {
		t.Error("a placebo where there was none")
	}
}

// TestPaced: a point that placebos do not slow down is paced, and the report says so. If placebos
// slow it down, only less than they should, the report does not.
func TestPaced(t *testing.T) {
	for _, test := range []struct {
		name          string
		nothing, gain float64 // gain of the placebo, and true gain of code with half of the samples
		want          float64
		paced         bool
	}{
		{"by the clock", 1, 0, 0, true},
		{"nearly", 0.93, 0.5, 0.5, true},   // in real time it loses 3%, less than a tenth of the delays
		{"mostly", 0.85, 0.5, 0.88, false}, // in real time it loses more
		{"partly", 0.6, 0.5, 0.75, false},
		{"not", 0, 0.5, 0.5, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := world{pairs: 60, levels: []int{30}, noise: 0.01,
				units: []code{{share: 0.5, gain: biased(0.5, test.nothing, false, linear(test.gain))},
					{share: 1, gain: linear(test.nothing)}}}
			d := w.run(1)
			becomePlacebo(d)
			visits := int64(0)
			for _, e := range d.Experiments {
				visits += e.Points[0].Count
			}
			r := Analyze([]*profile.Data{d}, Options{})
			p, gain := r.Points[0], r.Targets[0].Effects[0].Slope
			t.Logf("slope %.3f [%.3f..%.3f]", gain.Value, gain.Low, gain.High)
			warned := slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Code == "paced" })
			if p.Paced != test.paced || warned != test.paced {
				t.Errorf("paced: %v, warned of: %v", p.Paced, warned)
			}
			if gain.Low > test.want || gain.High < test.want {
				t.Errorf("slope %.3f [%.3f..%.3f], want %.3f", gain.Value, gain.Low, gain.High, test.want)
			}
			if p.Visits != visits {
				t.Errorf("%d visits, want %d", p.Visits, visits)
			}
		})
	}
}

// TestPacedAtTheEdge: with few visits, one visit beyond the edge of one of two placebos is no
// change of pace.
func TestPacedAtTheEdge(t *testing.T) {
	w := world{pairs: 60, levels: []int{30}, noise: 0.001,
		units: []code{{share: 0.5, gain: linear(0.5)}, {share: 1, gain: linear(1)}}}
	d := w.run(1)
	becomePlacebo(d)
	placebos := 0
	for i := range d.Experiments {
		e := &d.Experiments[i]
		e.Points[0].Count = 20
		if e.Unit == placeboUnit {
			placebos++
			switch {
			case placebos == 1:
				e.Points[0].Count = 19
			case placebos > leastPacePlacebos:
				e.SetAside = "too many"
			}
		}
	}
	if r := Analyze([]*profile.Data{d}, Options{}); !r.Points[0].Paced {
		t.Errorf("not paced: placebo %+v", r.Placebo)
	}
}

// TestPacedWithShortRun: one short run does not change the answer of long runs about the pace,
// neither without placebos nor as the only run with some.
func TestPacedWithShortRun(t *testing.T) {
	const truth = 0
	run := func(pairs int, seed uint64, placebos bool, nothing float64) *profile.Data {
		w := world{pairs: pairs, levels: []int{30}, noise: 0.01,
			units: []code{{share: 0.5, gain: linear(0.5)}, {share: 1, gain: linear(nothing)}}}
		d := w.run(seed)
		becomePlacebo(d)
		if !placebos {
			d.Experiments = slices.DeleteFunc(d.Experiments, func(e profile.Experiment) bool { return e.Unit == placeboUnit })
		}
		return d
	}
	for _, test := range []struct {
		name  string
		runs  []*profile.Data
		paced bool
	}{
		{"long", []*profile.Data{run(60, 1, true, 1)}, true},
		{"long, and short without placebos", []*profile.Data{run(60, 1, true, 1), run(8, 2, false, 1)}, true},
		{"short without placebos, and long", []*profile.Data{run(8, 2, false, 1), run(60, 1, true, 1)}, true},
		{"long, and short whose placebos slow the point down",
			[]*profile.Data{run(60, 1, true, 1), run(8, 2, true, 0)}, true},
		{"long without placebos, and short with some", []*profile.Data{run(60, 1, false, 1), run(12, 2, true, 1)}, false},
		{"long without placebos", []*profile.Data{run(60, 1, false, 1)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Analyze(test.runs, Options{})
			slope := r.Targets[0].Effects[0].Slope
			t.Logf("slope %.3f [%.3f..%.3f]", slope.Value, slope.Low, slope.High)
			if r.Points[0].Paced != test.paced {
				t.Errorf("paced: %v, want %v", r.Points[0].Paced, test.paced)
			}
			if test.paced && (slope.Low > truth || slope.High < truth) {
				t.Errorf("slope %.3f [%.3f..%.3f], the truth is %d", slope.Value, slope.Low, slope.High, truth)
			}
		})
	}
}
