package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"whatif/internal/profile"
)

// TestCoverage simulates worlds with known gains and counts how often the 95% intervals hold the
// truth. It prints the table (go test -v), and asserts that
//
//   - intervals of slopes and of single levels (of three experiments or more) hold it in 93 to 97%,
//     within twice the standard error of the simulations, except where a world is marked wide, with
//     the reason;
//   - those of the curve, averaged over its levels, do in 93% or more, within the same. They may do
//     so more often: for a straight line they are still narrower than those of single levels;
//   - no level of a curve falls below 87%, within the same, which is what a smoothing spline reaches
//     at bends;
//   - the bias of an estimate is below a quarter of the interval's half width, or half a point.
//
// -short makes fewer simulations, and allows for three standard errors.
//
// TestCoverageGrid crosses the conditions of these worlds. WHATIF_SIMS sets the number of
// simulations.
func TestCoverage(t *testing.T) {
	sims := orAsked(800)
	if testing.Short() {
		sims = orAsked(100)
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-38s %-24s %-24s %-24s %-12s %s\n", "coverage of 95% intervals, percent",
		"slope x 100", "gain from one level", "gain from the curve", "lowest level", "percentile bootstrap")
	for _, sc := range scenarios() {
		c := simulate(sc.world, sims)
		fmt.Fprintf(&table, "%-38s %-24v %-24v %-24v %-12.1f %v\n", sc.name,
			&c.slope, &c.raw, &c.gain, c.lowest(), &c.bootstrap)
		for what, y := range map[string]*tally{"slope": &c.slope, "level": &c.raw} {
			y.within(t, sc.name+": the "+what, sims, sc.wide != "")
		}
		slack := 0.0
		if testing.Short() {
			slack = 3 * 100 * math.Sqrt(0.05*0.95/float64(sims))
		}
		if x := c.gain.coverage(); x < 93-slack {
			t.Errorf("%s: the curve's intervals hold the truth in %.1f%%, want 93 or more", sc.name, x)
		}
		if x := c.lowest(); x < 87-slack {
			t.Errorf("%s: at some level the curve's intervals hold the truth in %.1f%% only", sc.name, x)
		}
		for _, y := range []*tally{&c.slope, &c.raw, &c.gain} {
			if bias, se := y.bias(); math.Abs(bias) > max(0.5, y.half/float64(y.n)/4)+4*se {
				t.Errorf("%s: biased by %.2f points", sc.name, bias)
			}
		}
	}
	t.Logf("%d simulations of each; mean error, root mean square error and half width in points\n%s", sims, table.String())
}

// within asserts that intervals hold the truth in 93 to 97%, within twice the standard error of so
// many simulations. The levels of a curve share baselines, so they count as one. Wide intervals may
// hold it more often.
func (t *tally) within(to *testing.T, what string, sims int, wide bool) {
	to.Helper()
	slack := 2 * 100 * math.Sqrt(0.05*0.95/float64(min(sims, t.n)))
	if testing.Short() {
		slack *= 1.5 // with few simulations one of so many tallies is beyond it
	}
	least, most := 93-slack, 97+slack
	if wide {
		most = 100
	}
	if x := t.coverage(); x < least || x > most {
		to.Errorf("%s's intervals hold the truth in %.1f%% of %d, want %.1f to %.1f", what, x, t.n, least, most)
	}
}

type scenario struct {
	name  string
	world world
	wide  string // why intervals may be too wide
}

func scenarios() []scenario {
	quarters := []int{25, 50, 75, 100}
	line := code{share: 0.6, gain: linear(0.6)}
	zero := code{share: 0.3, gain: linear(0)}
	flat := code{share: 0.6, gain: plateau(0.6, 0.2)}
	top := code{share: 0.5, gain: peak(0.2)}
	// Fifty pairs: 20 s. Noise of 3% in a window.
	of := func(c code, change ...func(*world)) world {
		w := world{pairs: 50, levels: quarters, units: []code{c}, noise: 0.03, targets: true}
		for _, f := range change {
			f(&w)
		}
		return w
	}
	among := func(n int) func(*world) {
		return func(w *world) {
			for range n - 1 {
				w.units = append(w.units, code{share: 0.05, gain: linear(0)})
			}
		}
	}
	all := func(w *world) { w.levels = nil }
	poisson := func(rate float64) func(*world) {
		return func(w *world) { w.rate, w.chance = rate, true }
	}
	phased := func(on func(float64) bool, slow float64) func(*world) {
		return func(w *world) {
			w.targets = false
			w.pairs = 150
			w.units[0].on, w.units[0].slow = on, slow
		}
	}
	return []scenario{
		{"linear", of(line), ""},
		{"linear, noise 0.5%", of(line, func(w *world) { w.noise = 0.005 }), ""},
		{"no effect", of(zero), ""},
		{"downward", of(code{share: 0.3, gain: linear(-0.2)}), ""},
		{"plateau from 33%", of(flat), ""},
		{"peak at 40%", of(top), ""},
		{"all of the program's time", of(code{share: 0.95, gain: linear(0.95)}), ""},
		{"noise of Student, df 3", of(line, func(w *world) { w.tails = 3 }), ""},
		{"5% outliers of 1.5 to 3 times", of(zero, func(w *world) { w.outliers = 0.05 }), ""},
		{"15% of windows 1.6 times longer", of(line, func(w *world) { w.bimodal = 0.15 }), ""},
		{"drift by 20% a second", of(line, func(w *world) { w.drift, w.noise = 0.2, 0.01 }), ""},
		{"jumps up to a factor of 2", of(line, func(w *world) { w.jumps, w.noise = 0.1, 0.01 }), ""},
		{"10 visits a window, Poisson", of(line, poisson(50)), ""},
		{"2 visits a window, Poisson", of(line, poisson(10)), ""},
		{"20 levels, linear", of(line, all), ""},
		{"20 levels, plateau", of(flat, all), ""},
		{"5 units (10 experiments each)", of(line, among(5)), ""},
		{"5 units, 20 levels", of(line, among(5), all), "most levels have one experiment, and noise is told by " +
			"the other units"},
		{"whole runs, 15 pairs", of(line, func(w *world) { w.whole, w.pairs = true, 15 }), ""},
		{"whole runs, 6 pairs", of(line, func(w *world) { w.whole, w.pairs = true, 6 }), ""},
		{"no phases, but 5 chosen units", of(line, among(5), phased(nil, 0)), ""},
		{"2 s of 6 s, chosen", of(line, among(5), phased(cycle(6, 2), 0)),
			"short phases that are regular are better known than random ones"},
		{"2 s of 6 s, program 2x slower then", of(line, among(5), phased(cycle(6, 2), 2)),
			"the noise of baselines has the changes of phase in it, which pairs have not"},
		{"2 s of 6 s, 2x slower, chosen late",
			of(line, among(5), phased(cycle(6, 2), 2), func(w *world) { w.late = true }),
			"the noise of baselines has the changes of phase in it"},
		{"random, 2 s of 6 s on average, chosen", of(line, among(5), phased(telegraph(2, 4), 0)), ""},
		{"random, 0.5 s of 1.5 s, chosen", of(line, among(5), phased(telegraph(0.5, 1), 0)), ""},
		{"random, 0.1 s of 0.3 s, chosen", of(line, among(5), phased(telegraph(0.1, 0.2), 0)), ""},
		{"0.5 s of 1 s, chosen",
			of(line, among(5), phased(cycle(1, 0.5), 0)), "as above"},
		{"random, 0.1 s of 0.3 s, hardly sampled",
			of(code{share: 0.05, gain: linear(0.05)}, among(15), phased(telegraph(0.1, 0.2), 0), all,
				func(w *world) { w.noise, w.late = 0.1, true }), "most levels have one experiment"},
	}
}

// cycle is code that runs for the first on seconds of every period.
func cycle(period, on float64) func(float64) bool {
	return func(second float64) bool { return math.Mod(second, period) < on }
}

// telegraph is code with phases and gaps of random length.
func telegraph(on, off float64) func(second float64) bool {
	rnd := rand.New(rand.NewPCG(7, 7))
	var ends []float64 // ends of phases and gaps, alternately
	for at := 0.0; at < 200; {
		at += rnd.ExpFloat64() * []float64{off, on}[len(ends)%2]
		ends = append(ends, at)
	}
	return func(second float64) bool { return sort.SearchFloat64s(ends, second)%2 == 1 }
}

// coverage is the tallies of one world.
type coverage struct {
	slope, raw, gain, bootstrap tally
	level                       map[int]*tally
}

func (c *coverage) lowest() float64 {
	x := 100.0
	for _, y := range c.level {
		if y.n >= 50 {
			x = min(x, y.coverage())
		}
	}
	return x
}

// simulate analyses sims runs of a world and looks at its first unit.
func simulate(w world, sims int) *coverage {
	c := &coverage{level: map[int]*tally{}}
	truth := w.truth()
	for i := range sims {
		d := w.run(uint64(i))
		res := Analyze([]*profile.Data{d}, Options{Simulated: true})
		t := slices.IndexFunc(res.Targets, func(t Target) bool { return t.Unit.Line == 1 })
		e := &res.Targets[t].Effects[0]
		if len(e.Curve) == 0 {
			continue
		}
		var num, den float64
		for _, l := range e.Curve[1:] {
			s := float64(l.Speedup) / 100
			g := truth(s)
			num += float64(l.Experiments) * s * g
			den += float64(l.Experiments) * s * s
			c.raw.add(l.Raw, 100*g)
			c.gain.add(l.Gain, 100*g)
			if c.level[l.Speedup] == nil {
				c.level[l.Speedup] = &tally{}
			}
			c.level[l.Speedup].add(l.Gain, 100*g)
			if l.Experiments >= leastTrials && !testing.Short() { // which only the table has
				c.bootstrap.add(percentile(d, 1, l.Speedup, uint64(i)), 100*g)
			}
		}
		s := e.Slope
		s.Value, s.Low, s.High = 100*s.Value, 100*s.Low, 100*s.High
		c.slope.add(s, 100*num/den)
	}
	return c
}

// truth is the gain of the first unit over a minute.
func (w *world) truth() func(s float64) float64 { return w.truthOf(60) }

// truthOf is the gain of the first unit over the first seconds of the program.
func (w *world) truthOf(seconds float64) func(s float64) float64 {
	c := w.units[0]
	part := 1.0
	if c.on != nil {
		part = 0
		for i := range 60000 {
			if c.on(seconds * float64(i) / 60000) {
				part += 1. / 60000
			}
		}
	}
	return func(s float64) float64 { return part * c.gain(s) }
}

// percentile is the interval that other tools use, for comparison: each experiment against the
// baseline drawn with it, and the percentiles of the ratio of sums over resamples of the pairs.
func percentile(d *profile.Data, unit uint32, speedup int, seed uint64) Estimate {
	type pair struct{ time, expected float64 }
	var pairs []pair
	to := partners(d.Experiments)
	for i, e := range d.Experiments {
		if e.Unit != unit || e.Speedup != speedup || to[i] < 0 {
			continue
		}
		b := d.Experiments[to[i]].Points[0]
		if b.Weight > 0 {
			pairs = append(pairs, pair{e.Points[0].WindowNS, e.Points[0].Weight * b.WindowNS / b.Weight})
		}
	}
	if len(pairs) == 0 {
		return Estimate{}
	}
	rnd := rand.New(rand.NewPCG(seed, uint64(speedup)))
	gains := make([]float64, 199)
	var mean float64
	for i := range gains {
		var sum pair
		for range pairs {
			p := pairs[rnd.IntN(len(pairs))]
			sum.time += p.time
			sum.expected += p.expected
		}
		gains[i] = 100 * (1 - sum.time/sum.expected)
		mean += gains[i] / float64(len(gains))
	}
	slices.Sort(gains)
	return Estimate{Value: mean, Low: quantile(gains, 0.025), High: quantile(gains, 0.975), Known: true, Bounded: true}
}

// tally counts how often intervals hold the truth.
type tally struct {
	n, hit             int
	sum, squares, half float64
}

func (t *tally) add(e Estimate, truth float64) {
	if !e.Bounded {
		return
	}
	t.n++
	if e.Low <= truth && truth <= e.High {
		t.hit++
	}
	d := e.Value - truth
	t.sum += d
	t.squares += d * d
	t.half += e.Half()
}

func (t *tally) coverage() float64 { return 100 * float64(t.hit) / float64(t.n) }

func (t *tally) bias() (mean, standardError float64) {
	n := float64(t.n)
	return t.sum / n, math.Sqrt(t.squares) / n
}

func (t *tally) String() string {
	n := float64(t.n)
	return fmt.Sprintf("%5.1f %+.1f %5.2f ±%5.2f", t.coverage(), t.sum/n, math.Sqrt(t.squares/n), t.half/n)
}
