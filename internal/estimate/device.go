package estimate

import (
	"fmt"
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/hint"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Device is another machine.
type Device struct {
	Ratios simulate.Device // its speeds divided by those of the machine that was recorded
	Unsure simulate.Device // by which part of itself each ratio may be off; 0: by none
	Cores  int             // 0: as many as the target could use when it was recorded
}

// On gives the estimates for a device: of the same recording, which is run there both with and without a change. From
// then on both estimators list the units that matter on either machine. The ratio of memory counts only where
// MemoryKnown says so.
func (e *Estimator) On(d Device) (*Estimator, error) {
	d.Ratios.Waits = nil
	if e.memory.known && d.Ratios.Memory != d.Ratios.CPU {
		d.Ratios.Waits = e.memory.share[mostLikely]
	}
	if pins := e.pinnedCores(); d.Cores > 0 && d.Cores < pins {
		return nil, hint.New(fmt.Errorf("the program pins its threads to %d cores, the device has %d", pins, d.Cores),
			"record the program with as many cores as the device has, or without pinning its threads")
	}
	there := e.with(d.Ratios, d.Cores)
	there.unsure(d)
	e.also, there.also = there, e
	return there, nil
}

// with is the estimator for other speeds, as if these were known exactly.
func (e *Estimator) with(ratios simulate.Device, cores int) *Estimator {
	there := *e
	there.device, there.cores, there.here = ratios, cores, e
	if e.doubt != "" {
		return &there
	}
	base := e.machine.Run(simulate.Change{Device: ratios, Cores: cores})
	there.moved = base
	if !e.machine.Understood(base) {
		there.doubt = "on that device, simulated threads wait for each other: what they wait for was not understood"
		return &there
	}
	there.points = make([]pointBase, len(e.points))
	for k := range e.points {
		there.points[k] = e.points[k].on(base, k)
	}
	there.time = e.time.on(ratios, base)
	return &there
}

// pinnedCores is how many cores the threads are pinned to that may not run on all.
func (e *Estimator) pinnedCores() int {
	pinned := map[int16]bool{}
	for _, t := range e.rec.Threads {
		if len(t.Allowed) < e.rec.Cores {
			for _, cpu := range t.Allowed {
				pinned[cpu] = true
			}
		}
	}
	return len(pinned)
}

// on is the base of a point on a device: what the machine gets wrong without a change it gets wrong there, too.
func (b *pointBase) on(base simulate.Outcome, k int) pointBase {
	there := pointBase{}
	n := there.cut(base, k)
	requests := there.requests(base, k)
	for i := range b.metrics {
		from := &b.metrics[i]
		m := metricBase{metric: from.metric, quantile: from.quantile, deviation: from.deviation, refused: from.refused}
		if m.refused == "" {
			m.base = there.sums(&m, base, k, requests)
			m.drawn = there.drawn.values(&m.base, m.quantile)
			m.refused = there.refuse(&m, n)
		}
		there.metrics = append(there.metrics, m)
	}
	return there
}

// on is where the threads spend their time on a device.
func (t *times) on(d simulate.Device, base simulate.Outcome) times {
	longer := [recording.Classes]float64{}
	for c := range longer {
		longer[c] = 1
	}
	longer[recording.Disk], longer[recording.Net] = simulate.Slowdown(d.Disk), simulate.Slowdown(d.Net)
	scale := func(w waited) waited {
		for c := range w {
			w[c] = int64(float64(w[c]) * longer[c])
		}
		return w
	}
	there := times{total: t.total, samples: t.samples, all: scale(t.all)}
	there.period = int64(float64(t.period) * t.longer(d))
	for i := range base.Windows {
		there.length += base.Windows[i].Length
	}
	there.waits = make([]waited, len(t.waits))
	for i := range t.waits {
		there.waits[i] = scale(t.waits[i])
	}
	return there
}

// MemoryKnown tells whether the recording says which time waits for memory.
func (e *Estimator) MemoryKnown() bool { return e.memory.known }

// Memory is how much of the time on a core waits for memory, in percent.
func (e *Estimator) Memory() analyze.Estimate { return e.memory.of(nil, e.time.samples) }

// longer is by how much longer time on a core is on a device, on average.
func (t *times) longer(d simulate.Device) float64 {
	n, sum := 0.0, 0.0
	for i, samples := range t.samples {
		n += float64(samples)
		sum += float64(samples) * d.Longer(i)
	}
	if n == 0 {
		return simulate.Slowdown(d.CPU)
	}
	return sum / n
}

// A shift is the device as it would be if one of its ratios were larger, and smaller.
type shift [2]*Estimator

// unsure prepares what must be known to say how far a gain may be off because ratios are, or because it is not known
// which time waits for memory. A class that the program never uses does not matter.
func (e *Estimator) unsure(d Device) {
	if e.doubt != "" {
		return
	}
	for _, c := range []struct {
		of   func(*simulate.Device) *float64
		used bool
	}{
		{func(d *simulate.Device) *float64 { return &d.CPU }, true},
		{func(d *simulate.Device) *float64 { return &d.Memory }, d.Ratios.Waits != nil},
		{func(d *simulate.Device) *float64 { return &d.Disk }, e.here.Uses("disk")},
		{func(d *simulate.Device) *float64 { return &d.Net }, e.here.Uses("net")},
		{func(d *simulate.Device) *float64 { return &d.Wake }, true},
	} {
		part := *c.of(&d.Unsure)
		if !c.used || !(part > 0) {
			continue
		}
		var s shift
		for i, factor := range []float64{1 + part, 1 / (1 + part)} {
			ratios := d.Ratios
			*c.of(&ratios) = factor / simulate.Slowdown(*c.of(&ratios))
			s[i] = e.here.with(ratios, d.Cores)
		}
		e.shifts = append(e.shifts, s)
	}
	if d.Ratios.Waits == nil {
		return
	}
	var s shift
	for i, end := range []int{atLeast, atMost} {
		ratios := d.Ratios
		ratios.Waits = e.memory.share[end]
		s[i] = e.here.with(ratios, d.Cores)
	}
	e.shifts = append(e.shifts, s)
}

// leastUse is the part of the time, in percent, in which threads wait for a class that a program uses.
const leastUse = 0.1

// Uses tells whether threads of the target waited for a class, such as disk, for some time. It is true of a class that
// is no waiting.
func (e *Estimator) Uses(class string) bool {
	c := slices.Index(classNames[:], class)
	return c < 0 || recording.Class(c) == recording.CPU || e.percentOf(recording.Class(c)) >= leastUse
}

// ratioErrors are by how much the gains of a change may be off because the device's ratios may be: one for each metric
// of each point, as a part. Errors of different ratios have nothing to do with each other.
func (e *Estimator) ratioErrors(c simulate.Change, found []measured) []float64 {
	all := make([]float64, len(found))
	for _, s := range e.shifts {
		most := make([]float64, len(found))
		for _, shifted := range s {
			for i, gain := range shifted.gains(c) {
				if i < len(most) && !math.IsNaN(gain) {
					most[i] = max(most[i], math.Abs(gain-found[i].gain))
				}
			}
		}
		for i := range all {
			all[i] = math.Hypot(all[i], most[i])
		}
	}
	return all
}

// gains are those of a change, without a statement of how sure they are.
func (e *Estimator) gains(c simulate.Change) (all []float64) {
	if e.doubt != "" {
		return nil
	}
	o := e.machine.Run(e.there(c))
	for k := range e.points {
		all = append(all, e.points[k].gains(o, k)...)
	}
	return all
}

// gains are those of a run at each metric; NaN: not known.
func (b *pointBase) gains(o simulate.Outcome, k int) (all []float64) {
	requests := b.requests(o, k)
	for i := range b.metrics {
		m, gain := &b.metrics[i], math.NaN()
		if m.refused == "" {
			now := b.sums(m, o, k, requests)
			gain = gainOf(now.value(m.quantile, nil), m.base.value(m.quantile, nil))
		}
		all = append(all, gain)
	}
	return all
}

// there is a change on the device of the estimator.
func (e *Estimator) there(c simulate.Change) simulate.Change {
	c.Device = e.device
	if c.Cores == 0 {
		c.Cores = e.cores
	}
	return c
}

// Move says how the program that runs on the device compares with the program here: a gain is by how much the time per
// visit falls, so it is negative on a slower device. Only an estimator that On has made can tell.
func (e *Estimator) Move() (answers []Answer) {
	if e.doubt != "" {
		return e.refuseAnswers(e.doubt)
	}
	for k := range e.here.points {
		here := &e.here.points[k]
		var shifted [][2][]float64
		for _, s := range e.shifts {
			shifted = append(shifted, [2][]float64{here.gains(s[0].moved, k), here.gains(s[1].moved, k)})
		}
		for i, found := range here.compare(e.moved, k) {
			m := &here.metrics[i]
			a := Answer{Point: e.rec.Points[k].Name, Metric: m.metric, Refused: m.refused}
			if m.refused == "" {
				for _, s := range shifted {
					off := max(math.Abs(s[0][i]-found.gain), math.Abs(s[1][i]-found.gain))
					found.slack = math.Hypot(found.slack, off)
				}
				a.Gain = interval(found, doubts{deviation: m.deviation, most: 1, size: 1})
			}
			answers = append(answers, a)
		}
	}
	return answers
}

// pointsThere are the points as they would be recorded on the device.
func (e *Estimator) pointsThere() []analyze.EstimatedPoint {
	all := e.here.recordedPoints()
	if e.doubt != "" {
		return all
	}
	for k := range all {
		for i := range e.points[k].metrics {
			m, was := &e.points[k].metrics[i], &e.here.points[k].metrics[i]
			if m.refused != "" || was.refused != "" {
				continue
			}
			stretchPoint(&all[k], m.metric, m.base.value(m.quantile, nil)/was.base.value(was.quantile, nil))
		}
	}
	return all
}

// stretchPoint makes a metric of a point so many times as long.
func stretchPoint(p *analyze.EstimatedPoint, metric analyze.Metric, longer float64) {
	switch metric {
	case analyze.Throughput:
		p.Rate /= longer
	case analyze.MeanLatency:
		p.Mean *= longer
	}
	for i, q := range analyze.Quantiles {
		if q.Metric == metric && i < len(p.Quantiles) {
			p.Quantiles[i] *= longer
		}
	}
}
