package estimate

import (
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/point"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// gainAt is the estimate of a unit at a metric and a level.
func gainAt(t *testing.T, all *analyze.Estimates, unit string, m analyze.Metric, speedup int) analyze.Estimate {
	t.Helper()
	for _, u := range all.Units {
		for _, e := range u.Effects {
			if u.Unit.Name != unit || e.Metric != m {
				continue
			}
			if len(e.Levels) != 20 {
				t.Fatalf("%s, %s: %d levels, %s", unit, m, len(e.Levels), e.Refused)
			}
			return e.Levels[speedup/5-1].Gain
		}
	}
	t.Fatalf("no %s", unit)
	return analyze.Estimate{}
}

// TestAll: every unit has an estimate at every 5%, for throughput and latency, near the truth and with the truth in its
// interval; code that nobody waits for gains nothing.
func TestAll(t *testing.T) {
	p := newProgram(random(3), 1500)
	var runs atomic.Int64
	p.calls = func() { runs.Add(1) }
	all := newEstimator(p.record(), p, "", Options{}).All()
	if len(all.Units) != 2 || all.Refused != "" || all.Points[0].Visits != 1500 || all.Points[0].Matched < 1490 {
		t.Fatalf("%+v", all)
	}
	truth := truths(0.5)
	for m, want := range truth {
		g := gainAt(t, all, "a.c:1", m, 50)
		if !g.Known || !g.Bounded || !(g.Low <= 100*want && 100*want <= g.High) || g.Half() > 8 {
			t.Errorf("%s: %.1f (%.1f to %.1f), truth %.1f", m, g.Value, g.Low, g.High, 100*want)
		}
		if other := gainAt(t, all, "a.c:2", m, 50); other.Value != 0 {
			t.Errorf("%s: the other line gains %.1f", m, other.Value)
		}
	}
	if g := gainAt(t, all, "a.c:1", analyze.Throughput, 5); math.Abs(g.Value-5./3) > 0.6 {
		t.Errorf("at 5%%: %.2f", g.Value)
	}
	if n := runs.Load(); n > 30 {
		t.Errorf("%d runs", n)
	}
}

// TestDoubts: what is wrong with the machine widens intervals, or refuses estimates, with the reason.
func TestDoubts(t *testing.T) {
	estimates := func(p *program, doubt string) *analyze.Estimates {
		return newEstimator(p.record(), p, doubt, Options{}).All()
	}
	good := newProgram(random(4), 800)
	off := newProgram(random(4), 800)
	off.shift = 0.08
	a, b := gainAt(t, estimates(good, ""), "a.c:1", analyze.Throughput, 100),
		gainAt(t, estimates(off, ""), "a.c:1", analyze.Throughput, 100)
	if math.Abs(a.Value-b.Value) > 0.01 {
		t.Errorf("an error that is there with and without the change is in the gain: %.2f, without it %.2f", b.Value, a.Value)
	}
	if math.Hypot(a.Half(), 0.08*a.Value) > b.Half() || b.Half() > 2*a.Half() {
		t.Errorf("a machine that is off by 8%% has ±%.1f, a good one ±%.1f", b.Half(), a.Half())
	}
	worse := newProgram(random(4), 800)
	worse.shift = 0.3
	few := newProgram(random(4), 8)
	tails := newProgram(random(4), 300)
	for _, c := range []struct {
		p      *program
		doubt  string
		metric analyze.Metric
		want   string
	}{
		{worse, "", analyze.Throughput, "simulated without a change, its time per visit is 1.3 times the recorded one"},
		{few, "", analyze.Throughput, "8 visits of the point in the recording, too few"},
		{few, "", analyze.P99, "8 visits of the point in the recording, too few"},
		{tails, "", analyze.P99, "requests with a known latency in the recording, too few"},
		{good, "threads waited for each other", analyze.Throughput, "threads waited for each other"},
	} {
		all := estimates(c.p, c.doubt)
		if all.Refused != c.doubt || len(all.Units) != 2 {
			t.Errorf("%d units, refused %q", len(all.Units), all.Refused)
		}
		for _, e := range all.Units[0].Effects {
			if e.Metric == c.metric && (len(e.Levels) > 0 || !strings.Contains(e.Refused, c.want)) {
				t.Errorf("%s: %d levels, refused because %q, want %q", c.metric, len(e.Levels), e.Refused, c.want)
			}
			if c.doubt == "" && c.p == tails && e.Metric == analyze.P95 && len(e.Levels) == 0 {
				t.Errorf("p95: %s", e.Refused)
			}
		}
	}
}

// TestSampling: a unit that few samples are in is known less exactly, by the scatter of their number.
func TestSampling(t *testing.T) {
	p := newProgram(random(5), 900) // a third of 900 samples: 300 ± 14, 4.7%
	for i := range p.unit {         // all visits alike
		p.rest[i], p.unit[i] = 2e6, 1e6
	}
	p.latencies = false
	all := newEstimator(p.record(), p, "", Options{}).All()
	g := gainAt(t, all, "a.c:1", analyze.Throughput, 60)
	want := 20 * math.Hypot(1.96*math.Sqrt(2./3/300), modelPart)
	if math.Abs(g.Value-20) > 0.1 || math.Abs(g.Half()-want) > 0.2 {
		t.Errorf("%.2f ± %.2f, want 20 ± %.2f", g.Value, g.Half(), want)
	}
}

// TestRates: a rate is that of all visits, whichever window they are in and however many a run has.
func TestRates(t *testing.T) {
	twice := simulated(func(c simulate.Change) simulate.Outcome { // a thread that goes round begins again: more visits
		o := simulate.Outcome{}
		for w := range 6 {
			step := int64(1e6)
			if len(c.Faster) > 0 {
				step = 1e6 - int64(5e5*c.Faster[0].By)
			}
			var visits []simulate.Visit
			for at := step; at <= 1e8; at += step {
				visits = append(visits, simulate.Visit{Time: at, Recorded: at, Latency: recording.No})
			}
			if w == 3 {
				visits = nil // a window without a visit counts, too
			}
			o.Windows = append(o.Windows, simulate.WindowOutcome{Length: 1e8, Visits: [][]simulate.Visit{visits}})
		}
		return o
	})
	b := pointBase{}
	same := twice(simulate.Change{})
	if n := b.cut(same, 0); n != 500 || !b.whole {
		t.Fatalf("%d visits", n)
	}
	m := metricBase{metric: analyze.Throughput}
	m.base = b.sums(&m, same, 0, nil)
	if rate := m.base.value(0, nil); math.Abs(rate-1.2e6) > 1 {
		t.Errorf("%.0f ns per visit, want 6 windows of 100 ms for 500 visits", rate)
	}
	m.drawn = b.drawn.values(&m.base, 0)
	b.metrics = []metricBase{m}
	faster := simulate.Change{Faster: []simulate.Faster{{By: 1}}}
	if g := b.compare(twice(faster), 0)[0]; math.Abs(g.gain-0.5) > 0.001 {
		t.Errorf("a gain of %.3f, want 0.5", g.gain)
	}
}

// TestAsk: several units at once, and slower ones.
func TestAsk(t *testing.T) {
	p := newProgram(random(6), 1500)
	both := simulated(func(c simulate.Change) simulate.Outcome {
		o := p.outcome(0, 1)
		for _, f := range c.Faster {
			if f.Unit.Stacks[0] {
				o = p.outcome(f.By, 1)
			}
		}
		if len(c.Faster) == 2 || c.Cores == 4 { // and everything else twice as fast
			for k := range o.Windows[0].Visits[0] {
				o.Windows[0].Visits[0][k].Time /= 2
			}
		}
		return o
	})
	e := newEstimator(p.record(), both, "", Options{})
	find := func(text string) Unit {
		u, err := e.Find(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, c := range []struct {
		q    Question
		want float64 // truth
	}{
		{Question{Faster: []Faster{{find("a.c:1"), 50}}}, 100 * p.gain(0.5)},
		{Question{Faster: []Faster{{find("a.c:1"), -50}}}, -100 * p.gain(0.5)},
		{Question{Faster: []Faster{{find("a.c:1"), 50}, {find("a.c:2"), 10}}}, 50 + 50*p.gain(0.5)},
		{Question{Cores: 4}, 50},
	} {
		a := e.Ask(c.q)
		if len(a) != 5 || a[0].Point != "request" || a[0].Metric != analyze.Throughput {
			t.Fatalf("%+v", a)
		}
		if g := a[0].Gain; !g.Bounded || !(g.Low <= c.want && c.want <= g.High) || g.Half() > 8 || a[0].Refused != "" {
			t.Errorf("%+v: %.1f (%.1f to %.1f), truth %.1f", c.q, g.Value, g.Low, g.High, c.want)
		}
	}
	q := Question{Faster: []Faster{{Unit{refused: "it follows"}, 50}}}
	for _, a := range e.Ask(q) {
		if a.Refused != "it follows" {
			t.Errorf("%+v", a)
		}
	}
	e = newEstimator(p.record(), both, "a bad machine", Options{Targets: []point.Target{*target("a.c:1")}})
	for _, a := range e.Ask(Question{Cores: 4}) {
		if a.Refused != "a bad machine" || a.Gain.Known {
			t.Errorf("%+v", a)
		}
	}
}

// TestParallel: units are estimated on all cores, and the numbers are the same each time.
func TestParallel(t *testing.T) {
	p := newProgram(random(7), 400)
	a, b := newEstimator(p.record(), p, "", Options{}).All(), newEstimator(p.record(), p, "", Options{}).All()
	for i := range a.Units {
		for j, e := range a.Units[i].Effects {
			for k, l := range e.Levels {
				if other := b.Units[i].Effects[j].Levels[k]; l.Gain != other.Gain {
					t.Fatalf("%+v, then %+v", l, other)
				}
			}
		}
	}
	var sum atomic.Int64
	inParallel(100, func(i int) { sum.Add(int64(i)) })
	if sum.Load() != 4950 {
		t.Errorf("the numbers from 0 to 99 add up to %d", sum.Load())
	}
}

// TestFlooded: where clients outside may ask sooner or not, the interval reaches from one to the other.
func TestFlooded(t *testing.T) {
	p := newProgram(random(6), 900)
	sooner := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 60)
	p.flooded = true
	e := newEstimator(p.record(), p, "", Options{})
	g := gainAt(t, e.All(), "a.c:1", analyze.Throughput, 60)
	if math.Abs(g.Value-sooner.Value/2) > 0.1 || g.Low > 0 || g.High < sooner.Value {
		t.Errorf("%.1f, %.1f to %.1f: want the middle of 0 and %.1f, and both within", g.Value, g.Low, g.High, sooner.Value)
	}
	u, err := e.Find("a.c:1")
	if err != nil {
		t.Fatal(err)
	}
	a := e.Ask(Question{Faster: []Faster{{Unit: u, Percent: 60}}})[0].Gain
	if math.Abs(a.Value-g.Value) > 0.1 || a.Low > 0 || a.High < sooner.Value {
		t.Errorf("asked: %.1f, %.1f to %.1f", a.Value, a.Low, a.High)
	}
	there, err := e.On(Device{Ratios: simulate.Device{CPU: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	d := gainAt(t, there.All(), "a.c:1", analyze.Throughput, 60)
	if math.Abs(d.Value-g.Value) > 0.1 || d.Low > 0 || d.High < sooner.Value {
		t.Errorf("on a device that is half as fast: %.1f, %.1f to %.1f", d.Value, d.Low, d.High)
	}
}

// TestFlushes: where other threads may gain, too, the interval reaches that far.
func TestFlushes(t *testing.T) {
	p := newProgram(random(6), 900)
	alone := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 40)
	for _, flooded := range []bool{false, true} {
		p.flushes, p.flooded = true, flooded
		low := alone.Value
		if flooded {
			low = 0
		}
		g := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 40)
		if high := 2 * alone.Value; math.Abs(g.Value-(low+high)/2) > 0.2 || g.Low > low || g.High < high {
			t.Errorf("%.1f, %.1f to %.1f: want the middle of %.1f and %.1f, and both within", g.Value, g.Low, g.High, low, high)
		}
	}
}

// TestWaking: the more of the time cores need to wake up, the less is known of a change, but of a small unit never more
// than some times its own time.
func TestWaking(t *testing.T) {
	half := func(waking, most float64) float64 {
		return modelError(0.1, doubts{most: most, size: 0.5, waking: waking})
	}
	if a, b, c := half(0, 0.5), half(0.01, 0.5), half(0.04, 0.5); a > 0.02 || b < 0.03 || c < 1.8*b {
		t.Errorf("half widths %.3f, %.3f and %.3f", a, b, c)
	}
	if a := half(0.04, 0.01); a > 0.02 {
		t.Errorf("a unit of 1%% of the time: half width %.3f", a)
	}
	p := newProgram(random(7), 900)
	sure := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 60)
	p.waking = 0.04
	all := newEstimator(p.record(), p, "", Options{}).All()
	if g := gainAt(t, all, "a.c:1", analyze.Throughput, 60); g.Value != sure.Value || g.Half() < 1.2*sure.Half() {
		t.Errorf("%.1f ± %.1f, without waking %.1f ± %.1f", g.Value, g.Half(), sure.Value, sure.Half())
	}
}

// TestTaken: where other programs had a third of the time, an estimate may be off by a third.
func TestTaken(t *testing.T) {
	p := newProgram(random(7), 900)
	sure := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 60)
	p.taken = 0.33
	g := gainAt(t, newEstimator(p.record(), p, "", Options{}).All(), "a.c:1", analyze.Throughput, 60)
	if g.Value != sure.Value || g.Half() < 2*sure.Half() {
		t.Errorf("%.1f ± %.1f, with nothing beside it %.1f ± %.1f", g.Value, g.Half(), sure.Value, sure.Half())
	}
}
