// Package estimate says from a recording what a program would gain if its code were faster, for all units of the
// recording: nothing was delayed, and nothing has to be tried. The engine is package simulate, which runs the recording
// again with a change. This package decides which changes to try, turns simulated visits into gains with intervals, and
// says where no estimate is to be believed.
//
//	e, err := estimate.Open(rec, estimate.Options{Kind: "line"})
//	all := e.All()                 // an estimate at every 5% for every unit that matters
//	result.AddEstimates(all)       // beside what experiments say, see package analyze
//	answer := e.Ask(question)      // several units at once, other numbers of cores
//
// The package is pure, and the same recording gives the same numbers.
//
// # Method
//
// A gain compares a simulated run with a change with the simulated run without one, never with the recording: what the
// simulated machine does wrong in both cancels out.
//
//   - Throughput: by how much the time per visit falls. Latency: by how much the mean, or a percentile, falls.
//   - The levels that are simulated are chosen unit by unit. First 100%, then the middle of each interval, until a
//     straight line between neighbours is exact enough (levels.go). Other levels are interpolated.
//   - A unit is what package experiment takes it for: the code that a sample is blamed on, functions with all that they
//     call, code as far as it is called from other code, and classes of waiting (units.go, stacks.go).
//
// # Uncertainty
//
// Each interval has three parts, added up as squares (interval.go):
//
//   - Which stretch of time was recorded: a block bootstrap over stretches of the recording (bootstrap.go). The visits
//     of a stretch without the change and the same visits with it are drawn together.
//   - How much of the time is in the unit: a share is known from a number of samples.
//   - The model's own error: what the unchanged run shows, by how much its rate and latencies differ from the recorded
//     ones; and what programs that were really changed have taught about the rest (modelError).
//
// Where a thread always has a request of a client outside to answer, a recording does not say how soon the client would
// ask again. Then the gain is between that with clients that ask as fast as they are answered and that with clients
// that ask when they did; the estimate is the middle, and the interval reaches from one to the other, and further by
// these three parts.
//
// # Refusals
//
// Where the simulated machine without a change does not do what was recorded, there are no estimates. A point, or a
// percentile, with too few visits has none either. The reason is given in words.
package estimate

import (
	"cmp"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/point"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Options say what is estimated. The zero value is for lines.
type Options struct {
	Kind    string         // of unit: line, func, func-self, file or binary; "": line
	Targets []point.Target // units by name, which are estimated as well
	// Waiting is the classes of waiting that count as time of the code that waits, and that are units themselves.
	Waiting []string
	Least   float64 // share of the time, in percent, that a unit without a name needs; 0: DefaultLeast
}

// DefaultLeast is the share of the time, in percent, from which a unit gets an estimate.
const DefaultLeast = 0.5

// DefaultWaiting are the classes of waiting that count as time of the code that waits unless a run says otherwise.
var DefaultWaiting = []string{"disk", "net", "sleep"}

// machine is the part of *simulate.Machine that estimates need.
type machine interface {
	Run(simulate.Change) simulate.Outcome
	Understood(simulate.Outcome) bool
	Flooded() bool
	Flushes(simulate.Change) bool
	Waking() float64
	Taken() float64
}

// Estimator answers questions about one recording.
type Estimator struct {
	rec     *recording.Recording
	machine machine
	opt     Options
	code    *code
	time    times
	memory  memoryWaits
	points  []pointBase
	doubt   string // why nothing can be estimated; "": estimates are good

	// Of one that On has made:
	here   *Estimator // without the device; nil: this is that one
	device simulate.Device
	cores  int
	moved  simulate.Outcome // the run on the device, without another change
	shifts []shift

	also *Estimator // whose units are listed, too
}

// Open prepares a recording: it runs it once without a change.
func Open(r *recording.Recording, opt Options) (*Estimator, error) {
	m, err := simulate.New(r)
	if err != nil {
		return nil, err
	}
	_, doubt := m.Check().Trusted()
	return newEstimator(r, m, doubt, opt), nil
}

func newEstimator(r *recording.Recording, m machine, doubt string, opt Options) *Estimator {
	if opt.Kind == "" {
		opt.Kind = "line"
	}
	if opt.Least == 0 {
		opt.Least = DefaultLeast
	}
	e := &Estimator{rec: r, machine: m, opt: opt, doubt: doubt, code: newCode(r), time: measureTimes(r),
		memory: measureMemory(r)}
	if e.doubt == "" {
		e.points = newBases(r, m.Run(simulate.Change{}), m.Run(simulate.Change{Costs: true}))
	}
	return e
}

// Doubt says why the recording gives no estimates at all; "" if it gives some.
func (e *Estimator) Doubt() string { return e.doubt }

// Seconds is how long the recording's windows are together.
func (e *Estimator) Seconds() float64 {
	if e.here != nil {
		return e.here.Seconds()
	}
	return float64(e.time.length) / 1e9
}

// Cores is how many cores the target could use.
func (e *Estimator) Cores() int { return e.rec.Cores }

// All estimates all units of the kind that have enough of the time, and those that were named. Units are spread over
// the processor's cores.
func (e *Estimator) All() *analyze.Estimates {
	all := &analyze.Estimates{Seconds: e.Seconds(), Refused: e.doubt, Outside: outside(e.rec)}
	if all.Points = e.recordedPoints(); e.here != nil {
		all.Points = e.pointsThere()
	}
	units := e.Units()
	all.Units = make([]analyze.EstimatedUnit, len(units))
	inParallel(len(units), func(i int) {
		u := &units[i]
		all.Units[i] = analyze.EstimatedUnit{Unit: u.Unit, Share: u.Share, Samples: u.Samples, Waiting: u.Waiting,
			Waited: u.Waited, Calls: u.Calls, Memory: e.memory.of(u.sim.Stacks, e.time.samples), Effects: e.effects(u)}
		if u.small {
			quarters(all.Units[i].Effects)
		}
	})
	return all
}

// outside is how many of 100 wake-ups were by processes outside of the recording, or by other machines.
func outside(r *recording.Recording) float64 {
	wakes, from := 0, 0
	for i := range r.Windows {
		for j := range r.Windows[i].Events {
			e := &r.Windows[i].Events[j]
			if e.Kind != recording.Wake && e.Kind != recording.Ready { // the latter: of a goroutine
				continue
			}
			wakes++
			if e.Class == recording.Net && (e.Cause == recording.ByStranger || e.Cause == recording.ByDevice) {
				from++
			}
		}
	}
	return 100 * float64(from) / float64(max(wakes, 1))
}

// recordedPoints are the points as they were recorded.
func (e *Estimator) recordedPoints() (all []analyze.EstimatedPoint) {
	was := asRecorded(e.rec)
	for k, p := range e.rec.Points {
		point := analyze.EstimatedPoint{Name: p.Name}
		var latencies []float64
		for i := range was.Windows {
			visits := visitsOf(&was.Windows[i], k)
			point.Visits += len(visits)
			for _, v := range visits {
				if v.Latency >= 0 {
					latencies = append(latencies, float64(v.Latency))
				}
			}
		}
		if e.time.length > 0 {
			point.Rate = 1e9 * float64(point.Visits) / float64(e.time.length)
		}
		if point.Matched = len(latencies); point.Matched > 0 {
			slices.Sort(latencies)
			point.Mean = total(latencies) / float64(point.Matched)
			for _, q := range analyze.Quantiles {
				point.Quantiles = append(point.Quantiles, latencies[int(q.Quantile*float64(point.Matched-1))])
			}
		}
		all = append(all, point)
	}
	return all
}

// effects estimates one unit at all metrics of all points.
func (e *Estimator) effects(u *Unit) (all []analyze.EstimatedEffect) {
	if why := cmp.Or(e.doubt, u.refused); why != "" {
		return e.refuse(why)
	}
	understood := true
	faster := func(percent int) simulate.Change {
		return simulate.Change{Faster: []simulate.Faster{{Unit: u.sim, By: float64(percent) / 100}}}
	}
	c := newCurves(func(percent int) []measured {
		all, ok := e.measure(faster(percent))
		understood = understood && ok
		return all
	}, u.most() < smallUnit)
	if !understood {
		return e.refuse(notUnderstood)
	}
	if len(e.shifts) > 0 {
		c.doubtRatios(func(percent int, found []measured) []float64 { return e.ratioErrors(faster(percent), found) })
	}
	n := 0
	for k := range e.points {
		for i := range e.points[k].metrics {
			m := &e.points[k].metrics[i]
			effect := analyze.EstimatedEffect{Point: e.rec.Points[k].Name, Metric: m.metric, Refused: m.refused}
			if m.refused == "" {
				effect.Levels = c.levels(n, m, u, e.machine)
			}
			all = append(all, effect)
			n++
		}
	}
	return all
}

// refuse gives no estimate anywhere.
func (e *Estimator) refuse(why string) (all []analyze.EstimatedEffect) {
	for _, p := range e.rec.Points {
		for _, m := range metricsOf(p) {
			all = append(all, analyze.EstimatedEffect{Point: p.Name, Metric: m, Refused: why})
		}
	}
	return all
}

// notUnderstood is why there is no estimate for a change after which simulated threads no longer get on.
const notUnderstood = "with this change, simulated threads wait for each other: what they wait for was not understood"

// measure runs the recording with a change, and compares: one result for each metric of each point, in order. It says
// whether the threads got on with each other.
func (e *Estimator) measure(c simulate.Change) (all []measured, understood bool) {
	outcome := e.machine.Run(e.there(c))
	understood = e.machine.Understood(outcome)
	for k := range e.points {
		all = append(all, e.points[k].compare(outcome, k)...)
	}
	for _, outcome := range e.otherwise(c) {
		understood = understood && e.machine.Understood(outcome)
		n := 0
		for k := range e.points {
			for _, other := range e.points[k].compare(outcome, k) {
				all[n] = all[n].orUpTo(other)
				n++
			}
		}
	}
	return all, understood
}

// otherwise is what else may come of a change, where a recording does not say which it is.
func (e *Estimator) otherwise(c simulate.Change) (outcomes []simulate.Outcome) {
	if e.machine.Flooded() {
		if e.here == nil {
			held := c
			held.Held = true
			outcomes = append(outcomes, e.machine.Run(held))
		} else { // when requests would have come to the device without the change is not known: at worst it gains nothing
			outcomes = append(outcomes, e.moved)
		}
	}
	if e.machine.Flushes(c) {
		c.Flushes = true
		outcomes = append(outcomes, e.machine.Run(e.there(c)))
	}
	return outcomes
}

// metricsOf are what can be estimated at a point.
func metricsOf(p recording.Point) []analyze.Metric {
	all := []analyze.Metric{analyze.Throughput}
	if p.Latency {
		all = append(all, analyze.MeanLatency)
		for _, q := range analyze.Quantiles {
			all = append(all, q.Metric)
		}
	}
	return all
}

// counted are the classes of waiting that count as time of code.
func (e *Estimator) counted() (classes [recording.Classes]bool) {
	for c, name := range classNames {
		classes[c] = slices.Contains(e.opt.Waiting, name)
	}
	return classes
}
