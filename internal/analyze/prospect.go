package analyze

import "math"

// A Prospect is how much a unit might be worth by the data so far, in percent: what it
// takes to plan more experiments.
type Prospect struct {
	// Most is what the unit can gain at most: the part of the time in which it waits, or runs on
	// some core.
	Most float64
	// Gain is what it gains at the best, and Half half of that interval's width, Widest of the
	// widest at any quarter: without the method's own error, which more experiments do
	// not make smaller. Bounded: they are known.
	Gain, Half, Widest float64
	Bounded            bool
	Bend               int // where its curve bends, in percent; 0 if nowhere known
}

// Prospect is that of one of the result's targets: at the point where it is largest,
// of those where enough is known to say more than Most does. The tails of latencies do
// not count: they take longest to know.
func (r *Result) Prospect(t *Target) Prospect {
	p := Prospect{Most: min(100, t.Share*r.cores+t.Waited)}
	for i := range t.Effects {
		e := &t.Effects[i]
		if e.Metric != Throughput && e.Metric != MeanLatency {
			continue
		}
		q, ok := e.prospect()
		if !ok || q.Half > max(p.Most, 1) {
			continue
		}
		if !p.Bounded || q.Gain+q.Half > p.Gain+p.Half {
			q.Most, q.Bounded = p.Most, true
			p = q
		}
	}
	return p
}

func (e *Effect) prospect() (p Prospect, ok bool) {
	if !e.Slope.Bounded {
		return p, false
	}
	if n := len(e.Marks); n == 0 || e.Marks[n-1].Speedup < 100 {
		// Not tried far enough yet: as if it went on like this.
		p.Gain, p.Half = 100*e.Slope.Value, 100*e.doubt.noiseHalf()
		p.Widest = p.Half
	}
	for i := range e.Marks {
		m := &e.Marks[i]
		if !m.Gain.Bounded {
			return p, false
		}
		h := m.doubt.noiseHalf()
		p.Widest = max(p.Widest, h)
		if p.Half == 0 || m.Gain.Value > p.Gain {
			p.Gain, p.Half = m.Gain.Value, h
		}
	}
	p.Bend = e.ShapeAt
	return p, p.Half > 0 && !math.IsNaN(p.Half)
}

const (
	// settledTrials is how many experiments it takes before an interval is trusted to be as
	// narrow as it looks: the noise that it is made of is an estimate, and who stops at the
	// first narrow interval stops when that is too low (Anscombe, Proc. Camb. Phil. Soc.
	// 48, 1952). With as many as this the intervals at which runs stop hold the truth as
	// often as others do: TestUntil.
	settledTrials = 12
)

// Settled says whether the leading units are known well enough: all that may still be
// the best have intervals of at most ±half at every quarter, beside the method's own error.
// A unit may be the best if the upper end of its interval, or what it can gain at most, is
// not below the lower end of another's.
func (r *Result) Settled(half float64) bool {
	if len(r.Targets) == 0 {
		return false
	}
	all := make([]Prospect, len(r.Targets))
	sure := math.Inf(-1)
	for i := range r.Targets {
		all[i] = r.Prospect(&r.Targets[i])
		if all[i].Bounded {
			sure = max(sure, all[i].Gain-all[i].Half)
		}
	}
	for i, p := range all {
		upper := p.Most
		if p.Bounded {
			upper = min(upper, p.Gain+p.Half)
		}
		// What is as little as the interval is as well known as was asked for.
		if upper < sure || upper <= half {
			continue
		}
		if !p.Bounded || p.Widest > half || r.Targets[i].Tried < settledTrials {
			return false
		}
	}
	return r.Experiments >= settledTrials && !math.IsInf(sure, -1)
}
