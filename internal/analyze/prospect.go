package analyze

import (
	"math"
	"slices"
)

// A Prospect is how much a unit might be worth by the data so far, in percent. The plan uses it to
// choose more experiments.
type Prospect struct {
	// Most is the most that the unit can gain: the part of the time in which it waits, or runs on
	// some core.
	Most float64
	// Gain is the unit's largest gain, Half half the width of its interval, and Widest half that of
	// the widest interval at any quarter. The widths are without the method error, which more
	// experiments do not reduce. Bounded says that all three are known.
	Gain, Half, Widest float64
	Bounded            bool
	Bend               int // speed-up at which its curve bends, in percent; 0 if none is known
}

// Prospect returns the prospect of one of the result's targets, at the point where it is largest,
// among the points where enough is known to say more than Most does. The tails of latencies do not
// count, because they take longest to know.
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
		// The largest speed-ups were not tried yet: extend the line.
		p.Gain, p.Half = 100*e.Slope.Value, 100*e.uncertainty.noiseHalf()
		p.Widest = p.Half
	}
	for i := range e.Marks {
		m := &e.Marks[i]
		if !m.Gain.Bounded {
			return p, false
		}
		h := m.uncertainty.noiseHalf()
		p.Widest = max(p.Widest, h)
		if p.Half == 0 || m.Gain.Value > p.Gain {
			p.Gain, p.Half = m.Gain.Value, h
		}
	}
	p.Bend = e.ShapeAt
	return p, p.Half > 0 && !math.IsNaN(p.Half)
}

const (
	// settledTrials is how many experiments it takes before an interval is trusted to be as narrow
	// as it looks. Its noise is an estimate, and a run that stops at the first narrow interval
	// stops when that estimate is too low (Anscombe, Proc. Camb. Phil. Soc. 48, 1952). With this
	// number, the intervals at which runs stop hold the truth as often as others do (TestUntil).
	settledTrials = 12
)

// Settled says whether the leading units are known well enough: all units that may still be the
// best have intervals of at most ±half at every quarter, without the method error. A unit may be
// the best if neither the upper end of its interval nor its Most is below the lower end of another
// unit's interval.
//
// Where units are sped up together nothing else is tried.
func (r *Result) Settled(half float64) bool {
	if len(r.Targets) == 0 {
		return false
	}
	together := slices.ContainsFunc(r.Targets, func(t Target) bool { return len(t.Together) > 0 })
	all := make([]Prospect, len(r.Targets))
	best := math.Inf(-1) // the largest gain that is certain
	for i := range r.Targets {
		all[i] = r.Prospect(&r.Targets[i])
		if all[i].Bounded {
			best = max(best, all[i].Gain-all[i].Half)
		}
	}
	for i, p := range all {
		upper := p.Most
		if p.Bounded {
			upper = min(upper, p.Gain+p.Half)
		}
		// A gain that is at most half is known as exactly as was asked for.
		if upper < best || upper <= half || together && r.Targets[i].Tried == 0 {
			continue
		}
		if !p.Bounded || p.Widest > half || r.Targets[i].Tried < settledTrials {
			return false
		}
	}
	return r.Experiments >= settledTrials && !math.IsInf(best, -1)
}
