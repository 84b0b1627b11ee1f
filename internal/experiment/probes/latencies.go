package probes

import (
	"whatif/internal/point"
	"whatif/internal/profile"
)

// WithEnds adds the ends of latencies to points, begin and end of each.
func WithEnds(points []point.Spec, latencies []point.Latency) []point.Spec {
	points = points[:len(points):len(points)]
	for _, l := range latencies {
		points = append(points, l.Begin, l.End)
	}
	return points
}

// ends are the points at which the latencies begin and end that the user named.
type ends struct {
	latencies []point.Latency
	first     int // the place of the first latency's begin among the points
}

func endsOf(o Options) ends { return ends{o.Latencies, len(o.Points) - 2*len(o.Latencies)} }

// of is the latency that point i begins or ends, and its place among those that the user named; nil: none.
func (e ends) of(i int) (l *point.Latency, k int) {
	k = (i - e.first) / 2
	if i < e.first || k >= len(e.latencies) {
		return nil, 0
	}
	return &e.latencies[k], k
}

// argument is the number of the argument of point i that is its key; 0: it has no key.
func (e ends) argument(i int) int {
	l, k := e.of(i)
	switch {
	case l == nil:
		return 0
	case i == e.first+2*k:
		return l.BeginKey
	}
	return l.EndKey
}

// counterpart is the other point of the latency that point i begins or ends.
func (e ends) counterpart(i int) int { return e.first + ((i - e.first) ^ 1) }

// all describes the latencies for the profile.
func (e ends) all() []profile.Latency {
	var all []profile.Latency
	for i, l := range e.latencies {
		begin := e.first + 2*i
		all = append(all, profile.Latency{Name: l.Name, Spec: l.Text, Begin: begin, End: begin + 1})
	}
	return all
}

// measure begins to measure latencies between points that are known.
func (p *Probes) measure(more []profile.Latency) error {
	for _, l := range more {
		sampled := isSource(p.points[l.Begin]) || isSource(p.points[l.End])
		if err := p.ledger.SetSpan(l.Begin, l.End, sampled, p.ends.argument(l.Begin) > 0); err != nil {
			return err
		}
		p.latencies = append(p.latencies, l)
	}
	if len(p.latencies) == 0 {
		return nil
	}
	return p.ledger.DelaySleepers()
}
