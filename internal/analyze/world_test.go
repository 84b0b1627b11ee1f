package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// A world is a simulated program on a machine, with known true gains. Everything that the method
// has to cope with can be switched on.
type world struct {
	pairs   int
	levels  []int // empty: 5 to 100 in steps of 5
	units   []code
	targets bool // units are tried at all times, as with -t

	rate     float64 // visits per second; 1000 if 0
	chance   bool    // visits are Poisson; else they come evenly
	noise    float64 // standard deviation of a window's logarithmic period
	tails    float64 // degrees of freedom of that noise; 0: normal
	outliers float64 // share of windows that take 1.5 to 3 times as long
	drift    float64 // standard deviation of the speed's logarithm after a second
	jumps    float64 // per second, of the speed by a factor of up to 2
	bimodal  float64 // share of windows in which the program itself takes 1.6 times as long
	realNS   float64 // length of an experiment; 200 ms if 0
	whole    bool    // every experiment is a run of the program
	late     bool    // units are chosen at their experiment, not with the pair
	// plan chooses units and levels, if there is one: plan.New, plan.Race or plan.Even.
	plan func(seed uint64, levels []int) *plan.Plan
	// deaf says that the plan does not learn (plan.Even never does).
	deaf bool
	// each is called with the data so far after each pair; false ends the run.
	each func(d *profile.Data) bool
}

// code is a unit of a world. Its gain cannot be more than share times speed-up.
type code struct {
	share float64                   // of the samples, while it runs
	gain  func(s float64) float64   // while it runs
	on    func(second float64) bool // nil: it always runs
	slow  float64                   // the program's period while it runs; 0 is 1
}

func linear(slope float64) func(float64) float64 {
	return func(s float64) float64 { return slope * s }
}

// plateau rises up to a gain of top, and stays there.
func plateau(slope, top float64) func(float64) float64 {
	return func(s float64) float64 { return math.Min(slope*s, top) }
}

// peak rises to top at 40% and falls to zero at 100%.
func peak(top float64) func(float64) float64 {
	return func(s float64) float64 {
		if s < 0.4 {
			return top * s / 0.4
		}
		return top * (1 - s) / 0.6
	}
}

const period = 1e6 // of sampling, ns

// run simulates one run.
func (w *world) run(seed uint64) *profile.Data {
	rnd := rand.New(rand.NewPCG(seed, 12))
	levels := w.levels
	if len(levels) == 0 {
		for s := 5; s <= 100; s += 5 {
			levels = append(levels, s)
		}
	}
	d := &profile.Data{Units: map[uint32]profile.Unit{}, Run: profile.Run{Version: 1, ID: fmt.Sprint(seed), CPUs: 2,
		PeriodNS:  period,
		WholeRuns: w.whole, Speedups: levels, Points: []profile.Point{{Name: "request", Kind: "func"}}}}
	for i := range w.units {
		d.Units[uint32(i+1)] = profile.Unit{ID: uint32(i + 1), Kind: "line", Name: fmt.Sprintf("a.c:%d", i+1), File: "a.c",
			Line: i + 1}
	}
	if w.targets {
		d.Run.Targets = []string{"a.c:1"}
	}
	m := machine{world: w, rnd: rnd}
	if w.plan != nil {
		m.follow(d, w.plan(seed, levels))
		return d
	}
	for pair := range w.pairs {
		u := m.choose()
		level := levels[rnd.IntN(len(levels))]
		order := []profile.Experiment{{}, {Unit: uint32(u + 1), Speedup: level}}
		if rnd.IntN(2) == 0 {
			order[0], order[1] = order[1], order[0]
		}
		for _, e := range order {
			if w.late && e.Unit != 0 {
				e.Unit = uint32(m.choose() + 1)
			}
			e.Index, e.Pair = len(d.Experiments), pair+1
			m.measure(&e)
			d.Experiments = append(d.Experiments, e)
		}
	}
	return d
}

// follow makes the experiments that a plan asks for, and gives it the results, as a session does.
func (m *machine) follow(d *profile.Data, p *plan.Plan) {
	look := 0
	for range 2 * m.pairs {
		t := p.Next(func() (c []plan.Candidate) {
			for i, u := range m.units {
				if m.targets {
					c = append(c, plan.Candidate{Unit: uint32(i + 1), Samples: 1})
				} else if u.on == nil || u.on(m.now) {
					c = append(c, plan.Candidate{Unit: uint32(i + 1), Samples: int64(m.binomial(400, u.share))})
				}
			}
			return c
		})
		e := profile.Experiment{Index: len(d.Experiments), Unit: t.Unit, Speedup: t.Speedup, Pair: t.Pair, Chance: t.Chance}
		m.measure(&e)
		d.Experiments = append(d.Experiments, e)
		if n := len(d.Experiments); n >= look && !m.deaf {
			look = n + max(2, n/50)
			p.Learn(known(Analyze([]*profile.Data{d}, Options{Simulated: true})))
		}
		if m.each != nil && len(d.Experiments)%2 == 0 && !m.each(d) {
			return
		}
	}
}

// known is what a session tells the plan. The units of a world are numbered by their lines.
func known(r *Result) map[uint32]plan.Known {
	all := make(map[uint32]plan.Known)
	for i := range r.Targets {
		p := r.Prospect(&r.Targets[i])
		all[uint32(r.Targets[i].Unit.Line)] = plan.Known{Most: p.Most, Gain: p.Gain, Half: p.Half, Bounded: p.Bounded,
			Bend: p.Bend}
	}
	return all
}

type machine struct {
	*world
	rnd   *rand.Rand
	now   float64 // seconds
	speed float64 // logarithm of the period
}

// choose picks a unit that is running.
func (m *machine) choose() int {
	for {
		u := m.rnd.IntN(len(m.units))
		if c := m.units[u]; m.targets || c.on == nil || c.on(m.now) {
			return u
		}
		if m.rnd.IntN(50) == 0 {
			m.now += 0.01 // nothing runs: wait
		}
	}
}

func (m *machine) normal() float64 {
	x := m.rnd.NormFloat64()
	if m.tails == 0 {
		return x
	}
	chi := 0.0
	for range int(m.tails) {
		y := m.rnd.NormFloat64()
		chi += y * y
	}
	return x / math.Sqrt(chi/m.tails)
}

// measure fills in what an experiment would have recorded.
func (m *machine) measure(e *profile.Experiment) {
	real := m.realNS
	if real == 0 {
		real = 200e6
	}
	e.StartNS = int64(m.now * 1e9)
	slow := math.Exp(m.speed + m.noise*m.normal())
	if m.rnd.Float64() < m.outliers {
		slow *= 1.5 + 1.5*m.rnd.Float64()
	}
	if m.rnd.Float64() < m.bimodal {
		slow *= 1.6
	}
	e.UnitSamples = map[uint32]int64{}
	theta, delay, density := 1.0, 0.0, 1.0
	for i, c := range m.units {
		active := 0.0 // part of the window in which it runs
		for k := range 20 {
			if c.on == nil || c.on(m.now+real/1e9*(float64(k)+0.5)/20) {
				active += 1. / 20
			}
		}
		if c.slow > 0 {
			density *= active/c.slow + 1 - active
		}
		trials, p := real/period, c.share*active
		n := m.binomial(int(trials), p)
		if n > 0 {
			e.UnitSamples[uint32(i+1)] = int64(n)
		}
		if uint32(i+1) == e.Unit && p > 0 {
			s := float64(e.Speedup) / 100
			delay = s * period * float64(n)
			// The gain is in proportion to the delay that arose.
			theta = 1 - c.gain(s)*active*float64(n)/(trials*p)
		}
	}
	e.Samples = int64(real / period)
	rate := m.rate
	if rate == 0 {
		rate = 1000
	}
	time := real - delay
	visits := density * rate * time / 1e9 / (math.Max(theta, 0.01) * slow)
	if m.whole { // the visits are given, and the time follows
		visits = 1
		time = real * slow * theta
		delay *= slow
		real = time + delay
	}
	if m.chance {
		visits = m.poisson(visits)
	}
	window := 1.0
	if !m.whole { // the runner's window fades in and out
		window = 0.68
	}
	e.RealNS, e.DelayNS = int64(real), int64(delay)
	e.Points = []profile.Visits{{Count: int64(math.Round(visits)), Weight: window * visits, WindowNS: window * time}}
	m.step(real / 1e9)
}

// step lets time pass.
func (m *machine) step(seconds float64) {
	m.now += seconds
	m.speed += m.drift * math.Sqrt(seconds) * m.rnd.NormFloat64()
	if m.rnd.Float64() < m.jumps*seconds {
		m.speed = (m.rnd.Float64() - 0.5) * math.Ln2 * 2
	}
	// A machine neither stops nor flies: reflect at a factor of two.
	if m.speed > math.Ln2 {
		m.speed = 2*math.Ln2 - m.speed
	}
	if m.speed < -math.Ln2 {
		m.speed = -2*math.Ln2 - m.speed
	}
}

func (m *machine) binomial(n int, p float64) int {
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if sd > 3 { // normal is good enough
		return int(math.Max(0, math.Min(float64(n), math.Round(mean+sd*m.rnd.NormFloat64()))))
	}
	if p > 0 && p < 0.02 { // so is Poisson's
		return int(m.poisson(mean))
	}
	k := 0
	for range n {
		if m.rnd.Float64() < p {
			k++
		}
	}
	return k
}

func (m *machine) poisson(mean float64) float64 {
	if mean > 100 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*m.rnd.NormFloat64()))
	}
	k, p, limit := 0, 1.0, math.Exp(-mean)
	for {
		if p *= m.rnd.Float64(); p < limit {
			return float64(k)
		}
		k++
	}
}
