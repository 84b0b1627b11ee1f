package analyze

import (
	"slices"
	"strings"
	"testing"

	"whatif/internal/profile"
)

// gainsOf are levels at every quarter with a gain of some part of the speed-up, up to a plateau.
func gainsOf(slope, half float64, plateau int) (all []Level) {
	for s := 25; s <= 100; s += 25 {
		g := slope * float64(min(s, plateau))
		gain := Estimate{Value: g, Low: g - half, High: g + half, Known: true, Bounded: true}
		all = append(all, Level{Speedup: s, Gain: gain})
	}
	return all
}

// TestEstimatedVerdict: an estimate has the verdict that experiments with the same intervals had.
func TestEstimatedVerdict(t *testing.T) {
	unbounded := []Level{{Speedup: 100, Gain: Estimate{Value: 50, Known: true}}}
	for _, c := range []struct {
		levels []Level
		want   Verdict
	}{
		{gainsOf(0.5, 2, 100), Faster}, {gainsOf(0.1, 3, 25), Unsure}, {gainsOf(-0.2, 3, 100), Slower},
		{gainsOf(0.005, 1, 100), None}, {gainsOf(0, 5, 100), Unsure}, {unbounded, Unsure},
	} {
		if got := estimatedVerdict(c.levels, DefaultMargin); got != c.want {
			t.Errorf("%+v: %s, want %s", c.levels, got, c.want)
		}
	}
}

// tested is a result of experiments with two lines, of which one was tried.
func tested() *Result {
	r := &Result{Margin: DefaultMargin, Experiments: 20, Baselines: 20, Points: []Point{{Name: "p", Visits: 50}},
		Targets: []Target{
			{Unit: profile.Unit{Kind: "line", Name: "a.c:1", Line: 1, Func: "f"}, Share: 50, Tried: 20, Effects: []Effect{{
				Metric: Throughput, Verdict: Faster, Experiments: 20, Marks: gainsOf(0.4, 3, 100), Curve: []Level{{}},
				Slope: Estimate{Value: 0.4, Low: 0.37, High: 0.43, Known: true, Bounded: true}}}},
			{Unit: profile.Unit{Kind: "line", Name: "a.c:2", Line: 2}, Share: 30,
				Effects: []Effect{{Metric: Throughput, Verdict: Unsure}}, Warnings: Warnings{{"few-experiments", "never tried"}}},
		}}
	return r
}

func unit(name string, line int, levels []Level) EstimatedUnit {
	return EstimatedUnit{Unit: profile.Unit{Kind: "line", Name: name, Line: line, Func: "g"}, Share: 10,
		Effects: []EstimatedEffect{{Point: "p", Metric: Throughput, Levels: levels}, {Point: "other", Metric: Throughput}}}
}

// TestAddEstimates: units meet by their key; where both engines know a gain, experiments are believed, and it is said
// where the estimate is another.
func TestAddEstimates(t *testing.T) {
	for _, c := range []struct {
		levels  []Level
		differs bool
	}{{gainsOf(0.45, 2, 100), false}, {gainsOf(0.6, 3, 100), true}, {gainsOf(0.4, 2, 50), true}} {
		r := tested()
		r.AddEstimates(&Estimates{Seconds: 5, Points: []EstimatedPoint{{Name: "p", Visits: 100, Rate: 20}},
			Units: []EstimatedUnit{unit("a.c:1", 1, c.levels), unit("a.c:2", 2, gainsOf(0.9, 1, 100)),
				unit("b.c:3", 3, gainsOf(0.1, 1, 100))}})
		at := func(name string) *Target {
			i := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Unit.Name == name })
			return &r.Targets[i]
		}
		if len(r.Targets) != 3 || r.Points[0].Rate != 20 || r.Doubt() != "" && strings.Contains(r.Doubt(), "nothing") {
			t.Fatalf("%+v, %s", r.Targets, r.Doubt())
		}
		a, b, d := at("a.c:1"), at("a.c:2"), at("b.c:3")
		if a.Effects[0].Basis() != Both || b.Effects[0].Basis() != Estimated || d.Effects[0].Basis() != Estimated {
			t.Errorf("%s, %s, %s", a.Effects[0].Basis(), b.Effects[0].Basis(), d.Effects[0].Basis())
		}
		if g, _ := a.Effects[0].At(50); g.Value != 20 || a.Effects[0].Verdict != Faster || a.Share != 50 {
			t.Errorf("the experiments are not believed: %+v", a)
		}
		if len(b.Warnings) > 0 || b.Effects[0].Verdict != Faster || d.Share != 10 || r.Targets[0].Unit.Name != "a.c:2" {
			t.Errorf("%+v, %+v", b, d)
		}
		has := func(w Warning) bool { return w.Code == "estimate-differs" }
		if slices.ContainsFunc(a.Effects[0].Warnings, has) != c.differs || slices.ContainsFunc(r.Warnings, has) != c.differs {
			t.Errorf("%v: %v, %v", c.levels, a.Effects[0].Warnings, r.Warnings)
		}
	}
}

// TestFewBesideEstimate: too few experiments say nothing, so the verdict is the estimate's, which the table shows.
func TestFewBesideEstimate(t *testing.T) {
	r := tested()
	few := &r.Targets[0].Effects[0]
	few.Experiments, few.Slope, few.Verdict = 1, Estimate{}, Unsure
	few.Marks = gainsOf(0.1, 1, 100)
	r.AddEstimates(&Estimates{Seconds: 5, Units: []EstimatedUnit{unit("a.c:1", 1, gainsOf(0.6, 3, 100))}})
	e := &r.Targets[0].Effects[0]
	if e.Verdict != Faster || e.Basis() != Both || e.Reason != "estimated from a recording: too few experiments test it" ||
		len(e.Warnings) > 0 {
		t.Errorf("%+v", e)
	}
}

// TestRecordedOnly: a run without experiments is judged by its recording.
func TestRecordedOnly(t *testing.T) {
	empty := func() *Result {
		run := profile.Run{Version: 1, Points: []profile.Point{{Name: "p", Kind: "func"}}}
		return Analyze([]*profile.Data{{Run: run, Units: map[uint32]profile.Unit{}}}, Options{})
	}
	if empty().Doubt() == "" {
		t.Error("an empty run is believed")
	}
	for _, c := range []struct {
		from Estimates
		want string
	}{
		{Estimates{Units: []EstimatedUnit{unit("a.c:1", 1, gainsOf(0.5, 1, 100))},
			Points: []EstimatedPoint{{Name: "p", Visits: 9}}}, ""},
		{Estimates{Refused: "it is off", Points: []EstimatedPoint{{Name: "p", Visits: 9}}},
			"this run tells nothing: it is off"},
		{Estimates{Seconds: 5, Points: []EstimatedPoint{{Name: "p", Visits: 9}}},
			"this run tells nothing: no unit of the recording has enough of its 5.0 s"},
		{Estimates{Units: []EstimatedUnit{unit("a.c:1", 1, nil)}}, "this run tells no gain; point p was visited 0 times " +
			"in 0 s: it tells nothing. Is it the right point, and does the load run?"},
	} {
		r := empty()
		r.AddEstimates(&c.from)
		if r.Doubt() != c.want {
			t.Errorf("%q, want %q", r.Doubt(), c.want)
		}
		for _, w := range r.Warnings {
			if c.want == "" {
				t.Errorf("%+v", w)
			}
		}
	}
}
