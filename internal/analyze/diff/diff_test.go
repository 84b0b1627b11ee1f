package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// A shop is an invented program. Each visit takes some time in line a and in the rest, all on the
// critical path.
type shop struct {
	a, rest float64 // ns per visit
	speed   float64 // of the machine
	line    int     // of a
	text    string
	build   string
	effect  float64 // part of line a's time that is on the critical path
}

func (s shop) run(seed uint64) *profile.Data {
	rnd := rand.New(rand.NewPCG(seed, 1))
	d := &profile.Data{Run: profile.Run{Version: 1, Started: time.Unix(int64(seed), 0), Args: []string{"./shop"},
		Host: "h", CPUs: 2, PeriodNS: 1e6,
		Points: []profile.Point{{Name: "done", Kind: "func"}}}, Units: map[uint32]profile.Unit{
		1: {ID: 1, Kind: "line", Name: "a.c:1", File: "/src/a.c", Line: s.line, Func: "f", Text: s.text, Binary: "/bin/shop"},
		2: {ID: 2, Kind: "func", Name: "rest", Func: "rest", Binary: "/bin/shop"},
	}}
	if s.build != "" {
		d.Run.BuildIDs = map[string]string{"/bin/shop": s.build}
	}
	for i := range 120 {
		e := profile.Experiment{Index: i, RealNS: 2e8, Pair: i/2 + 1}
		unit, speedup := uint32(0), 0
		if i%2 == 1 {
			unit, speedup = uint32(1+i/2%2), 25*(1+i/4%4)
		}
		e.Unit, e.Speedup = unit, speedup
		period := (s.a*s.effect + s.rest) / s.speed
		left := period
		if unit == 1 {
			left -= s.a * s.effect / s.speed * float64(speedup) / 100
		}
		noise := 1 + 0.01*rnd.NormFloat64()
		visits := 2e8 / period * noise
		busy := s.a / (s.a*s.effect + s.rest)
		e.Samples = 200
		e.UnitSamples = map[uint32]int64{1: int64(math.Round(200 * busy)), 2: int64(math.Round(200 * (1 - busy)))}
		if unit == 1 {
			e.DelayNS = int64(2e8 * busy * float64(speedup) / 100)
			visits = float64(e.RealNS-e.DelayNS) / left * noise
		}
		if unit == 2 {
			// The whole rest is made faster.
			e.DelayNS = int64(2e8 * (1 - busy) * float64(speedup) / 100)
			visits = float64(e.RealNS-e.DelayNS) / (period - s.rest/s.speed*float64(speedup)/100) * noise
		}
		e.Points = []profile.Visits{{Count: int64(visits), Weight: 0.7 * visits, WindowNS: 0.7 * float64(e.RealNS-e.DelayNS)}}
		d.Experiments = append(d.Experiments, e)
	}
	return d
}

func runsOf(s shop, seeds ...uint64) (runs []*profile.Data) {
	for _, seed := range seeds {
		runs = append(runs, s.run(seed))
	}
	return runs
}

// Line a takes 60% of the time of a visit, and becomes twice as fast. The truth: the visit takes
// 30% less.
var (
	before = shop{a: 600e3, rest: 400e3, speed: 1, line: 10, text: "sum += x;", build: "aa", effect: 1}
	after  = shop{a: 300e3, rest: 400e3, speed: 1, line: 14, text: "sum += x;", build: "bb", effect: 1}
)

func TestRealised(t *testing.T) {
	c := Compare(runsOf(before, 1, 2, 3), runsOf(after, 4, 5, 6), analyze.Options{})
	if c.SameBuild || len(c.Points) != 1 || len(c.Gone)+len(c.Appeared) != 0 {
		t.Fatalf("%+v", c)
	}
	p := c.Points[0]
	if !p.BetweenRuns || !p.Gain.Bounded || p.Gain.Low > 30 || p.Gain.High < 30 || p.Gain.Half() > 3 {
		t.Errorf("gain %+v, truth 30", p)
	}
	if len(c.Units) != 2 || c.Units[0].New.Unit.Line != 14 || c.Units[0].MatchedBy != SameText {
		t.Fatalf("units %+v", c.Units)
	}
	k := c.Units[0].Predictions[0]
	if !k.Faster || k.Speedup.Low > 50 || k.Speedup.High < 49 || math.Abs(k.OldNS-600e3) > 2e4 ||
		math.Abs(k.NewNS-300e3) > 2e4 {
		t.Errorf("speed-up %+v", k)
	}
	if math.Abs(k.Predicted.Value-30) > 2 || !k.Predicted.Bounded || k.Outcome != Realised {
		t.Errorf("predicted %+v: %s", k.Predicted, k.Outcome)
	}
	if other := c.Units[1].Predictions[0]; other.Faster {
		t.Errorf("the rest became faster: %+v", other)
	}
	if e := c.Units[0].Effects[0]; !e.Changed || e.Speedup != 50 || e.Change.Value > -5 {
		t.Errorf("a is predicted to gain as much as before: %+v", e)
	}
	// In the other direction line a became slower, and nothing else did.
	back := Compare(runsOf(after, 4, 5, 6), runsOf(before, 1, 2, 3), analyze.Options{})
	for _, w := range append(c.Warnings, back.Warnings...) {
		t.Errorf("warning %v", w)
	}
}

// TestReplaced: the hot line was rewritten; the cost of the new line of its function replaces the
// old cost.
func TestReplaced(t *testing.T) {
	anew := after
	anew.text = "sum += n * (n - 1) / 2;"
	c := Compare(runsOf(before, 1, 2, 3), runsOf(anew, 4, 5, 6), analyze.Options{})
	if len(c.Gone) != 0 || len(c.Units) == 0 || c.Units[0].MatchedBy != Replaced || c.Units[0].New != nil {
		t.Fatalf("gone %v, units %+v", c.Gone, c.Units)
	}
	k := c.Units[0].Predictions[0]
	if !k.Faster || math.Abs(k.Speedup.Value-50) > 4 || math.Abs(k.Predicted.Value-30) > 4 || k.Outcome != Realised ||
		math.Abs(k.OldNS/k.NewNS-2) > 0.2 {
		t.Errorf("prediction %+v", k)
	}
	if r := c.Points[0].Rest; !r.Bounded || r.Low > 0 || r.High < 0 {
		t.Errorf("the rest changed: %+v", r)
	}
}

// TestUnseen: a few samples less are no proof that code is gone, and a side without samples is none
// at all.
func TestUnseen(t *testing.T) {
	old := sumRatio{runs: []float64{math.Log(4e3)}, within: 0.25, df: 9} // 4 samples, of 1 µs per visit each
	if e := unseen(old, 1e3, analyze.Alpha); e.Low > 0 || e.Value != 100 {
		t.Errorf("of four samples: %+v", e)
	}
	old = sumRatio{runs: []float64{math.Log(4e6)}, within: 2.5e-4, df: 9} // 4,000 samples
	if e := unseen(old, 1e3, analyze.Alpha); e.Low < 99.8 {
		t.Errorf("of four thousand samples: %+v", e)
	}
	blind := runsOf(after, 4, 5, 6)
	for _, d := range blind {
		for i := range d.Experiments {
			d.Experiments[i].Samples, d.Experiments[i].UnitSamples = 0, nil
		}
	}
	for _, u := range Compare(runsOf(before, 1, 2, 3), blind, analyze.Options{}).Units {
		if len(u.Predictions) > 0 {
			t.Errorf("%s: %+v", u.Old.Unit.Name, u.Predictions)
		}
	}
}

// TestDoneWithout: the hot line was removed, and another line of its function is still there.
func TestDoneWithout(t *testing.T) {
	with := func(runs []*profile.Data, left bool) []*profile.Data {
		for _, d := range runs {
			d.Units[3] = profile.Unit{ID: 3, Kind: "line", Name: "a.c:20", File: "/src/a.c", Line: 20, Func: "f",
				Text: "return sum;", Binary: "/bin/shop"}
			if !left {
				delete(d.Units, 1)
			}
			for i := range d.Experiments {
				e := &d.Experiments[i]
				e.UnitSamples[3] = 2
				if e.Unit == 1 && !left {
					e.Unit, e.Speedup, e.DelayNS = 0, 0, 0
				}
			}
		}
		return runs
	}
	without := after
	without.a, without.text = 0, ""
	new := runsOf(without, 4, 5, 6)
	c := Compare(with(runsOf(before, 1, 2, 3), true), with(new, false), analyze.Options{})
	i := slices.IndexFunc(c.Units, func(u UnitChange) bool { return u.MatchedBy == Replaced })
	if len(c.Gone) != 0 || i < 0 {
		t.Fatalf("gone %v, units %+v", c.Gone, c.Units)
	}
	k := c.Units[i].Predictions[0]
	if !k.Faster || k.Speedup.Value != 100 || k.Speedup.Low < 95 || k.NewNS != 0 || math.Abs(k.Predicted.Value-60) > 6 ||
		k.Outcome != Realised {
		t.Errorf("prediction %+v, of %+v", k, c.Points[0])
	}
	// It is in another function now.
	for _, d := range new {
		d.Units[4] = profile.Unit{ID: 4, Kind: "line", Name: "a.c:40", File: "/src/a.c", Line: 40, Func: "g",
			Text: before.text, Binary: "/bin/shop"}
		for i := range d.Experiments {
			d.Experiments[i].UnitSamples[4] = 100
		}
	}
	if c := Compare(with(runsOf(before, 1, 2, 3), true), new, analyze.Options{}); len(c.Gone) != 1 {
		t.Errorf("moved: gone %v, units %+v", c.Gone, c.Units)
	}
	// If nothing is left of the function, it may have another name now.
	for _, d := range new {
		delete(d.Units, 3)
		delete(d.Units, 4)
		for i := range d.Experiments {
			delete(d.Experiments[i].UnitSamples, 3)
			delete(d.Experiments[i].UnitSamples, 4)
		}
	}
	if c := Compare(with(runsOf(before, 1, 2, 3), true), new, analyze.Options{}); len(c.Gone) != 1 {
		t.Errorf("gone %v, units %+v", c.Gone, c.Units)
	}
}

// TestNotRealised: the same change, but the program did not wait for line a.
func TestNotRealised(t *testing.T) {
	new := after
	new.rest = 700e3 // something else takes over
	c := Compare(runsOf(before, 1, 2, 3), runsOf(new, 4, 5, 6), analyze.Options{})
	if k := c.Units[0].Predictions[0]; !k.Faster || k.Outcome != Less {
		t.Errorf("%+v, gain %+v", k, c.Points[0].Gain)
	}
	if k := c.Units[1].Predictions[0]; !k.Slower || k.Faster {
		t.Errorf("the rest, which takes 75%% more: %+v", k)
	}
}

// TestRestChanged: a slower machine makes everything slower, which is no change of one unit.
func TestRestChanged(t *testing.T) {
	old := runsOf(before, 1, 2, 3)
	new := runsOf(shop{a: 600e3, rest: 400e3, speed: 0.8, line: 10, text: "sum += x;", build: "aa", effect: 1}, 4, 5, 6)
	for _, d := range append(old, new...) {
		for i := range d.Experiments {
			delete(d.Experiments[i].UnitSamples, 2) // none of the units
		}
	}
	for _, w := range Compare(old, new, analyze.Options{}).Warnings {
		if w.Code == "rest-changed" {
			return
		}
	}
	t.Error("nothing is said of the rest")
}

func TestNothingChanged(t *testing.T) {
	c := Compare(runsOf(before, 1, 2, 3), runsOf(before, 4, 5, 6), analyze.Options{})
	if !c.SameBuild || c.Points[0].Gain.Low > 0 || c.Points[0].Gain.High < 0 {
		t.Errorf("same build %v, gain %+v", c.SameBuild, c.Points[0].Gain)
	}
	for _, u := range c.Units {
		if u.MatchedBy != SameUnit || u.Effects[0].Changed || u.Predictions[0].Faster {
			t.Errorf("%s: %s, %+v, %+v", u.Old.Unit.Name, u.MatchedBy, u.Effects, u.Predictions)
		}
	}
}

// TestBetweenRuns: runs that differ by more than their own noise make the interval wide. One run of
// each side gives a warning.
func TestBetweenRuns(t *testing.T) {
	slow := after
	slow.speed = 0.7
	c := Compare(append(runsOf(before, 1, 2), runsOf(shop{a: 600e3, rest: 400e3, speed: 0.7, line: 10, text: "sum += x;",
		build: "aa", effect: 1}, 3)...),
		append(runsOf(after, 4, 5), runsOf(slow, 6)...), analyze.Options{})
	if p := c.Points[0]; p.Gain.Low > 0 || p.Gain.High < 30 {
		t.Errorf("on a machine whose speed varies by 30%%: %+v", p.Gain)
	}
	if c := Compare(runsOf(before, 1), runsOf(after, 4), analyze.Options{}); c.Points[0].BetweenRuns ||
		!c.Points[0].Gain.Bounded || c.Warnings[0].Code != "one-run" {
		t.Errorf("one run of each: %+v, %v", c.Points[0], c.Warnings)
	}
}

func differing(profile.Unit) bool { return false }

// TestLaunched: a program that was started by a launcher and rebuilt is another build, although the
// launcher is the same. Its lines are matched by text. If the program was not rebuilt, line numbers
// match.
func TestLaunched(t *testing.T) {
	launched := func(build string, text string, seeds ...uint64) []*profile.Data {
		runs := runsOf(shop{a: 600e3, rest: 400e3, speed: 1, line: 10, text: text, effect: 1}, seeds...)
		for _, d := range runs {
			d.Run.BuildIDs = map[string]string{"/bin/sh": "sh"}
			d.Binaries = map[string]string{"/bin/shop": build}
			if build == "" {
				d.Binaries = nil
			}
		}
		return runs
	}
	for _, c := range []struct {
		old, new string
		texts    [2]string
		same     bool
		how      string
	}{
		{"aa", "aa", [2]string{"x", "x"}, true, SameUnit},
		{"aa", "bb", [2]string{"x", "x"}, false, SameText},
		{"aa", "bb", [2]string{"x", "y"}, false, Replaced}, // another line has the number now
		{"aa", "", [2]string{"x", "y"}, false, Replaced},
		{"", "", [2]string{"x", "x"}, false, SameText},
	} {
		cmp := Compare(launched(c.old, c.texts[0], 1, 2), launched(c.new, c.texts[1], 3, 4), analyze.Options{})
		how := ""
		for _, u := range cmp.Units {
			if u.Old.Unit.Kind == "line" {
				how = u.MatchedBy
			}
		}
		if cmp.SameBuild != c.same || how != c.how {
			t.Errorf("%+v: same build %v, matched by %q", c, cmp.SameBuild, how)
		}
		lines := func(r *analyze.Result) int {
			return slices.IndexFunc(r.Targets, func(t analyze.Target) bool { return t.Unit.Kind == "line" })
		}
		if at := Matches(cmp.Old, cmp.New)[lines(cmp.New)]; (at >= 0) != (c.how != Replaced) ||
			at >= 0 && at != lines(cmp.Old) {
			t.Errorf("%+v: the page has it beside %d", c, at)
		}
	}
}

// TestOddSpeedups: speed-ups that are no quarters are compared too.
func TestOddSpeedups(t *testing.T) {
	odd := func(seeds ...uint64) []*profile.Data {
		runs := runsOf(before, seeds...)
		for _, d := range runs {
			for i := range d.Experiments {
				e := &d.Experiments[i]
				e.Speedup = map[int]int{25: 4, 50: 8, 75: 12, 100: 12}[e.Speedup]
			}
		}
		return runs
	}
	c := Compare(odd(1, 2), odd(3, 4), analyze.Options{})
	if len(c.Units) != 2 || len(c.Units[0].Effects) != 1 || c.Units[0].Effects[0].Speedup != 12 {
		t.Errorf("%+v", c.Units)
	}
}

// withLatency records a latency between two points of each visit, which falls as the square of the time per visit.
func withLatency(runs []*profile.Data) []*profile.Data {
	for _, d := range runs {
		d.Run.Points = []profile.Point{{Name: "done/begin"}, {Name: "done"}}
		d.Run.Latencies = []profile.Latency{{Name: "done", Begin: 0, End: 1}}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			v := e.Points[0]
			e.Points = []profile.Visits{v, v}
			period := v.WindowNS / v.Weight
			e.Latencies = []profile.Durations{{Begun: v.Weight, Ended: v.Weight, AreaNS: v.Weight * period * period / 1e6,
				Matched: v.Count, TotalNS: int64(float64(v.Count) * period * period / 1e6)}}
		}
	}
	return runs
}

// TestCostOnce: the CPU time per visit is compared once for all metrics of the visits; each metric
// has its own prediction.
func TestCostOnce(t *testing.T) {
	c := Compare(withLatency(runsOf(before, 1, 2)), withLatency(runsOf(after, 3, 4)), analyze.Options{})
	if len(c.Points) != 2 || c.Points[0].Metric != analyze.MeanLatency || c.Points[1].Metric != analyze.Throughput ||
		c.SameVisitsBefore(0) || !c.SameVisitsBefore(1) {
		t.Fatalf("points %+v", c.Points)
	}
	if c.Points[0].Rest != c.Points[1].Rest {
		t.Errorf("rest %+v and %+v", c.Points[0].Rest, c.Points[1].Rest)
	}
	k := c.Units[0].Predictions
	if len(k) != 2 || !k[0].Faster || k[0].Speedup != k[1].Speedup || k[0].OldNS != k[1].OldNS ||
		k[0].Predicted == k[1].Predicted {
		t.Errorf("predictions %+v", k)
	}
	rest := 0
	for _, w := range c.Warnings {
		if w.Code == "rest-changed" {
			rest++
		}
	}
	if rest > 1 {
		t.Errorf("%d times said of the rest: %v", rest, c.Warnings)
	}
}

func TestMatchUnits(t *testing.T) {
	line := func(n int, text string) analyze.Target {
		return analyze.Target{Unit: profile.Unit{Kind: "line", Name: "a.c:1", File: "/v/a.c", Line: n, Func: "f", Text: text}}
	}
	old := []analyze.Target{line(1, "x"), line(2, "x"), line(3, "y"), line(4, ""), line(5, "gone"),
		{Unit: profile.Unit{Kind: "func", Name: "g", Func: "g", Line: 7}}}
	new := []analyze.Target{line(11, "x"), line(12, "x"), line(13, "y"), line(4, ""), line(5, "other"),
		{Unit: profile.Unit{Kind: "func", Name: "g", Func: "g", Line: 70}}}
	want := map[int]int{1: 11, 2: 12, 3: 13, 4: 4, 7: 70}
	unmatched := 0
	for _, m := range matchUnits(old, new, differing) {
		switch {
		case m.old == nil || m.new == nil:
			unmatched++
		case want[m.old.Unit.Line] != m.new.Unit.Line:
			t.Errorf("line %d is line %d (%s)", m.old.Unit.Line, m.new.Unit.Line, m.how)
		default:
			delete(want, m.old.Unit.Line)
		}
	}
	if len(want) != 0 || unmatched != 2 {
		t.Errorf("%d without a match, not found: %v", unmatched, want)
	}
	renamed := new[2]
	renamed.Unit.File = "/v/b.c"
	if m := matchUnits(old[2:3], []analyze.Target{renamed}, differing); m[0].new == nil || m[0].how != SameText {
		t.Errorf("a line of a file that was renamed is not found")
	}
	// Lambdas are named by their lines, which move.
	lambda := func(at int) []analyze.Target {
		name := fmt.Sprintf("main::{lambda at a.cc:%d}::operator()", at)
		return []analyze.Target{{Unit: profile.Unit{Kind: "func", Name: name, Func: name, File: "/v/a.cc", Line: at}},
			{Unit: profile.Unit{Kind: "line", Name: "a.cc:9", File: "/v/a.cc", Line: at + 1, Func: name, Text: "x++;"}}}
	}
	for _, m := range matchUnits(append(lambda(7), lambda(20)...), append(lambda(30), lambda(12)...), differing) {
		if m.old == nil || m.new == nil || m.new.Unit.Line-m.old.Unit.Line != 5 && m.new.Unit.Line-m.old.Unit.Line != 10 {
			t.Errorf("of a lambda: %+v", m)
		}
	}
	// If there is one more line with the same text, they are not matched.
	for _, m := range matchUnits(old[:2], append(new[:2:2], line(15, "x")), differing) {
		if m.old != nil && m.new != nil {
			t.Errorf("line %d is line %d", m.old.Unit.Line, m.new.Unit.Line)
		}
	}
}

func TestCheck(t *testing.T) {
	changed := Compare(runsOf(before, 1, 2, 3), runsOf(after, 4, 5, 6), analyze.Options{})
	worse := Compare(runsOf(after, 4, 5, 6), runsOf(before, 1, 2, 3), analyze.Options{})
	single := Compare(runsOf(after, 4), runsOf(before, 1), analyze.Options{})
	for name, c := range map[string]struct {
		got  analyze.Finding
		want analyze.Answer
	}{
		"gained 10":           {changed.CheckLeast(10, ""), analyze.Holds},
		"gained 50":           {changed.CheckLeast(50, ""), analyze.Fails},
		"gained 30":           {changed.CheckLeast(30, ""), analyze.NotSure},
		"lost 5":              {changed.CheckLoss(5, ""), analyze.Holds},
		"worse by 5":          {worse.CheckLoss(5, ""), analyze.Fails},
		"worse, one run each": {single.CheckLoss(5, ""), analyze.NotSure},
		"no such point":       {worse.CheckLoss(5, "x"), analyze.NotSure},
	} {
		if c.got.Answer != c.want || c.got.Text == "" {
			t.Errorf("%s: %+v, want %s", name, c.got, c.want)
		}
	}
}

// Among many points some seem to gain by chance. A finding is certain for all of them together.
func TestCheckFamily(t *testing.T) {
	c := &Comparison{}
	for i := range 50 {
		p := PointChange{Name: string(rune('a' + i)), BetweenRuns: true,
			change: factor{value: 0, sd: 0.01, df: 1000, between: true}}
		if i == 0 {
			p.change.value = -0.025
		}
		p.Gain = p.change.gain(analyze.Alpha)
		c.Points = append(c.Points, p)
	}
	if f := c.CheckLeast(0, "a"); f.Answer != analyze.Holds {
		t.Errorf("one point: %+v", f)
	}
	if f := c.CheckLeast(0, ""); f.Answer != analyze.NotSure {
		t.Errorf("one of 50 points: %+v", f)
	}
}

func TestFactorWithoutData(t *testing.T) {
	for name, runs := range map[string][][]part{
		"none": nil, "empty": {nil}, "no visits": {{{5, 0}, {5, 0}}}, "no time": {{{0, 5}}},
		"huge": {{{math.MaxFloat64, 1e-300}}},
	} {
		if _, ok := newSumRatio(runs); ok {
			t.Errorf("%s: there is a ratio", name)
		}
	}
	one, ok := newSumRatio([][]part{{{4, 2}}})
	if e := changeOf(one, one).gain(analyze.Alpha); !ok || !e.Known || e.Bounded || e.Value != 0 {
		t.Errorf("one baseline: %+v", e)
	}
}
