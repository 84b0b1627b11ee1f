package analyze

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// simulations is how many simulations a test makes, unless WHATIF_SIMS says otherwise.
func simulations(usual int) int {
	if testing.Short() {
		return max(4, usual/20)
	}
	return orAsked(usual)
}

// orAsked is the number in WHATIF_SIMS, or n.
func orAsked(n int) int {
	if asked, err := strconv.Atoi(os.Getenv("WHATIF_SIMS")); err == nil {
		return asked
	}
	return n
}

// programs are worlds with several units, as a plan finds them.
func programs() map[string]world {
	flat := func(share, top float64) code { return code{share: share, gain: plateau(share, top)} }
	idle := func(n int, share float64) (c []code) {
		for range n {
			c = append(c, code{share: share, gain: linear(0)})
		}
		return c
	}
	return map[string]world{
		"3 units": {noise: 0.02, drift: 0.02, units: []code{
			{share: 0.4, gain: linear(0.4)}, {share: 0.3, gain: linear(0)}, {share: 0.3, gain: linear(0.1)}}},
		"8 units, a plateau leads": {noise: 0.03, drift: 0.02, units: append([]code{
			flat(0.25, 0.12), {share: 0.15, gain: linear(0.05)}, {share: 0.3, gain: linear(0)}}, idle(5, 0.05)...)},
		"30 units, one counts": {noise: 0.02, drift: 0.02, units: append([]code{
			{share: 0.2, gain: linear(0.2)}}, idle(29, 0.027)...)},
		"two rivals, noisy": {noise: 0.06, drift: 0.05, units: append([]code{
			{share: 0.3, gain: linear(0.3)}, {share: 0.3, gain: linear(0.27)}}, idle(4, 0.1)...)},
		"in phases": {noise: 0.02, drift: 0.02, units: []code{
			{share: 0.6, gain: linear(0.6), on: cycle(6, 3)}, {share: 0.3, gain: linear(0)}, {share: 0.1, gain: linear(0.1)}}},
	}
}

// enough is the half width, in points, that an interval should have at a speed-up of half.
const enough, half = 3, 50

// A planner makes plans. The plans of deaf ones do not learn from the data.
type planner struct {
	make func(seed uint64, levels []int) *plan.Plan
	deaf bool
}

var adaptive, race, even = planner{plan.New, false}, planner{plan.Race, false}, planner{plan.Even, true}

// untilKnown is how many seconds a world takes until the interval of its first unit
// is narrow enough.
func untilKnown(w world, p planner, seed uint64) float64 {
	w.plan, w.pairs, w.deaf = p.make, 1000, p.deaf
	seconds := math.Inf(1)
	w.each = func(d *profile.Data) bool {
		for i := range d.Experiments[len(d.Experiments)-2:] {
			if d.Experiments[len(d.Experiments)-2+i].Unit != 1 {
				continue
			}
			r := Analyze([]*profile.Data{d}, Options{Simulated: true})
			g, ok := firstUnit(r).Effects[0].At(half)
			if ok && g.Bounded && g.Half() <= enough {
				seconds = float64(len(d.Experiments)) * w.length() / 1e9
				return false
			}
		}
		return true
	}
	w.run(seed)
	return seconds
}

func firstUnit(r *Result) *Target {
	return &r.Targets[slices.IndexFunc(r.Targets, func(t Target) bool { return t.Unit.Line == 1 })]
}

// slower is the same world with experiments of half a second, the shortest that the COZ paper has.
// Noise stays that of each moment.
func (w world) slower() world {
	w.realNS = 500e6
	w.noise *= math.Sqrt(200e6 / w.realNS)
	return w
}

func (w *world) length() float64 {
	if w.realNS == 0 {
		return 200e6
	}
	return w.realNS
}

// TestSooner simulates how long it takes until the leading unit's gain is known to ±3 points, with
// the plan of the COZ paper and with that of whatif.
func TestSooner(t *testing.T) {
	sims := simulations(20)
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s %18s %18s %18s %8s\n", "seconds until ±3 points: median",
		"paper's plan", "same, 0.2 s each", "race", "sooner")
	var factors []float64
	for _, name := range sortedNames(programs()) {
		w := programs()[name]
		var paper, short, ours []float64
		for seed := range uint64(sims) {
			paper = append(paper, untilKnown(w.slower(), even, seed))
			short = append(short, untilKnown(w, even, seed))
			ours = append(ours, untilKnown(w, race, seed))
		}
		factor := median(paper) / median(ours)
		factors = append(factors, math.Log(factor))
		fmt.Fprintf(&table, "%-28s %18.1f %18.1f %18.1f %8.1f\n", name, median(paper), median(short), median(ours), factor)
		if factor < 1.5 && !testing.Short() { // few simulations say little about one program
			t.Errorf("%s: the plan of a race is sooner by a factor of %.1f only", name, factor)
		}
	}
	t.Logf("%d simulations of each\n%s", sims, table.String())
	sum := 0.0
	for _, f := range factors {
		sum += f
	}
	if sooner := math.Exp(sum / float64(len(factors))); sooner < 2 {
		t.Errorf("the plan of a race is sooner by a factor of %.1f only, all programs together", sooner)
	}
}

func sortedNames(of map[string]world) (names []string) {
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestRunnersUp asserts that the plan does not spend a run on the leading unit alone: in half a
// minute the units behind it have intervals too, as the table of a program with many lines needs.
// The plan of a race is simulated beside it; that one is for the leader alone.
func TestRunnersUp(t *testing.T) {
	sims := simulations(40)
	for name, p := range map[string]planner{"usual": adaptive, "race": race} {
		known, half := runnersUp(t, name, p, sims)
		if name == "race" {
			continue
		}
		for u, n := range known[:3] {
			if 10*n < 9*sims {
				t.Errorf("unit %d has an interval in %d of %d runs of 30 s", u+1, n, sims)
			}
		}
		if half > 2 {
			t.Errorf("the leader is known to ±%.1f points after 30 s", half)
		}
	}
}

// runnersUp gives, for each of the first lines of a program with many, in how many runs it has an
// interval; and half the width of the leader's.
func runnersUp(t *testing.T, name string, p planner, sims int) (known []int, leader float64) {
	w := world{pairs: 75, noise: 0.03, drift: 0.03, plan: p.make}
	shares := []float64{0.3, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.03, 0.02, 0.02}
	for _, share := range shares {
		w.units = append(w.units, code{share: share, gain: linear(share)})
	}
	for range 100 {
		w.units = append(w.units, code{share: 0.0027, gain: linear(0.0027)})
	}
	known = make([]int, len(shares))
	tried, width := make([]int, len(shares)), make([]float64, len(shares))
	for seed := range uint64(sims) {
		r := Analyze([]*profile.Data{w.run(seed)}, Options{Simulated: true})
		for i := range r.Targets {
			u := r.Targets[i].Unit.Line - 1
			if u >= len(shares) {
				continue
			}
			tried[u] += r.Targets[i].Tried
			if g, ok := r.Targets[i].Effects[0].At(half); ok && g.Bounded {
				known[u]++
				width[u] += g.Half()
			}
		}
	}
	var table strings.Builder
	for u, share := range shares {
		fmt.Fprintf(&table, "%3.0f%% of the time: %5.1f experiments, an interval in %3.0f%% of the runs, ±%.1f\n",
			100*share, float64(tried[u])/float64(sims), 100*float64(known[u])/float64(sims), width[u]/float64(max(1, known[u])))
	}
	t.Logf("%s, %d simulations\n%s", name, sims, table.String())
	return known, width[0] / float64(max(1, known[0]))
}

// TestAdaptive asserts that a plan that learns from the data does not bias the estimates: neither
// of the unit that it tries most, nor of those it neglects.
func TestAdaptive(t *testing.T) {
	sims := simulations(200)
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s %-5s %-26s %-26s %-26s\n", "coverage, bias, rmse, half width",
		"unit", "usual", "race", "even")
	for _, name := range sortedNames(programs()) {
		w := programs()[name]
		w.pairs = 75 // 30 s
		ours, racing, paper := w.estimates(adaptive, sims), w.estimates(race, sims), w.estimates(even, sims)
		for u := range ours {
			fmt.Fprintf(&table, "%-28s %-5d %-26v %-26v %-26v\n", name, u+1, &ours[u], &racing[u], &paper[u])
			for which, y := range map[string]*tally{"usual": &ours[u], "race": &racing[u]} {
				bias, se := y.bias()
				if math.Abs(bias) > 0.3+4*se {
					t.Errorf("%s, %s: unit %d is biased by %.2f ± %.2f points", name, which, u+1, bias, se)
				}
				// 93%, within twice the standard error of 200 simulations. The fewer ones of a
				// short run say nothing.
				if c := y.coverage(); y.n >= 100 && c < 90 {
					t.Errorf("%s, %s: intervals of unit %d hold the truth in %.1f%%", name, which, u+1, c)
				}
			}
		}
	}
	t.Logf("%d simulations of each\n%s", sims, table.String())
}

// estimates are the estimates of the first units' gains at a half.
func (w world) estimates(p planner, sims int) []tally {
	w.plan, w.deaf = p.make, p.deaf
	all := make([]tally, min(len(w.units), 4))
	for seed := range uint64(sims) {
		r := Analyze([]*profile.Data{w.run(seed)}, Options{Simulated: true})
		for i := range r.Targets {
			u := r.Targets[i].Unit.Line - 1
			if g, ok := r.Targets[i].Effects[0].At(half); u < len(all) && ok {
				one := w
				one.units = w.units[u : u+1]
				all[u].add(g, 100*one.truth()(half/100.))
			}
		}
	}
	return all
}

// TestUntil asserts that stopping when intervals are narrow keeps their coverage and the estimates
// unbiased; and that the plan for such runs stops no later than the usual one, all programs
// together.
func TestUntil(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for minutes")
	}
	sims := simulations(40)
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s %-26s %8s %8s %14s\n", "stopped at ±2: unit 1", "coverage, bias, rmse, half",
		"seconds", "never", "usual plan, s")
	var factors float64
	for _, name := range sortedNames(programs()) {
		w := programs()[name]
		y, seconds, never := w.stopped(race, sims)
		u, usual, _ := w.stopped(adaptive, sims) // as runs without a given duration
		factors += math.Log(usual/seconds) / float64(len(programs()))
		fmt.Fprintf(&table, "%-28s %-26v %8.1f %8d %14.1f  %v\n", name, &y, seconds, never, usual, &u)
		for _, y := range []*tally{&y, &u} {
			if c := y.coverage(); c < 90 {
				t.Errorf("%s: %.1f%% of the intervals hold the truth", name, c)
			}
			if bias, se := y.bias(); math.Abs(bias) > 0.3+4*se {
				t.Errorf("%s: biased by %.2f ± %.2f points", name, bias, se)
			}
		}
	}
	t.Logf("%d simulations of each; the usual plan takes %.2f times as long\n%s", sims, math.Exp(factors), table.String())
	if factors < 0 {
		t.Error("the plan for --until takes longer than the usual one")
	}
}

// stopped gives the estimates for the first unit in runs that stop at ±2 points, how long they
// take, and how many do not stop.
func (w world) stopped(p planner, sims int) (y tally, seconds float64, never int) {
	w.plan, w.pairs = p.make, 400
	for seed := range uint64(sims) {
		var r *Result
		w.each = func(d *profile.Data) bool {
			if n := len(d.Experiments); n < 24 || n%max(2, n/50/2*2) != 0 {
				return true
			}
			r = Analyze([]*profile.Data{d}, Options{Simulated: true})
			return !r.Settled(2)
		}
		d := w.run(seed)
		ran := float64(len(d.Experiments)) * w.length() / 1e9
		seconds += ran / float64(sims)
		if len(d.Experiments) == 2*w.pairs {
			never++
			r = Analyze([]*profile.Data{d}, Options{Simulated: true})
		}
		if g, ok := firstUnit(r).Effects[0].At(half); ok {
			// An interval is of the time that was measured: of the part of it that a phase took,
			// not of what the part would have been later.
			y.add(g, 100*w.truthOf(ran)(half/100.))
		}
	}
	return y, seconds, never
}

// TestFamily asserts that, of 200 units without an effect, hardly any run gives one a verdict.
func TestFamily(t *testing.T) {
	sims := simulations(120)
	for _, p := range []planner{even, adaptive} {
		if !p.deaf && testing.Short() {
			continue // learning after each pair takes minutes
		}
		w := world{pairs: 800, noise: 0.03, drift: 0.02, plan: p.make, deaf: p.deaf}
		for range 200 {
			w.units = append(w.units, code{share: 0.005, gain: linear(0)})
		}
		if !p.deaf {
			sims /= 4
		}
		wrong := 0
		for seed := range uint64(sims) {
			d := w.run(seed)
			r := Analyze([]*profile.Data{d}, Options{Simulated: true})
			if slices.ContainsFunc(r.Targets, func(t Target) bool {
				return t.Effects[0].Verdict == Faster || t.Effects[0].Verdict == Slower
			}) {
				wrong++
			}
		}
		t.Logf("in %d of %d runs one of 200 units without an effect seems to have one", wrong, sims)
		// 5%, plus what chance may add.
		if limit := 0.05*float64(sims) + 3*math.Sqrt(0.05*0.95*float64(sims)); float64(wrong) > limit {
			t.Errorf("in %d of %d runs one of 200 units without an effect seems to have one", wrong, sims)
		}
	}
}
