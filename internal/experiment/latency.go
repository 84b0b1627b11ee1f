package experiment

import (
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// MaxLatencies is how many latencies one run can measure.
const MaxLatencies = ledger.MaxSpans

// addEnds makes points of the ends of the latencies.
func addEnds(cfg *Config) {
	cfg.firstEnd = len(cfg.Points)
	cfg.Points = cfg.Points[:len(cfg.Points):len(cfg.Points)]
	for _, l := range cfg.Latencies {
		cfg.Points = append(cfg.Points, l.Begin, l.End)
	}
}

// latencyOf is the latency that point i begins or ends, if any; k is its place among
// those that the user named.
func (c *Config) latencyOf(i int) (l *point.Latency, k int) {
	k = (i - c.firstEnd) / 2
	if i < c.firstEnd || k >= len(c.Latencies) {
		return nil, 0
	}
	return &c.Latencies[k], k
}

// argument is the argument of point i that is its key, or 0.
func (c *Config) argument(i int) int {
	l, k := c.latencyOf(i)
	switch {
	case l == nil:
		return 0
	case i == c.firstEnd+2*k:
		return l.BeginKey
	}
	return l.EndKey
}

// counterpart is the other point of the latency that point i begins or ends.
func (c *Config) counterpart(i int) int { return c.firstEnd + ((i - c.firstEnd) ^ 1) }

// latencies describes those that the user named, for the profile.
func latencies(cfg *Config) []profile.Latency {
	var all []profile.Latency
	for i, l := range cfg.Latencies {
		begin := cfg.firstEnd + 2*i
		all = append(all, profile.Latency{Name: l.Name, Spec: l.Text, Begin: begin, End: begin + 1})
	}
	return all
}

// measure has latencies measured from now on, between points that are known.
func (s *session) measure(more []profile.Latency) error {
	for _, l := range more {
		begin, end := s.cfg.Points[l.Begin], s.cfg.Points[l.End]
		if err := s.ledger.SetSpan(l.Begin, l.End, begin.Kind == point.Source || end.Kind == point.Source, s.cfg.argument(l.Begin) > 0); err != nil {
			return err
		}
		s.latencies = append(s.latencies, l)
	}
	if len(s.latencies) == 0 {
		return nil
	}
	return s.ledger.HoldSleepers()
}

// spans turns what was read of the latencies into the experiment's record.
func (s *session) spans(r ledger.Reading) []profile.Durations {
	var all []profile.Durations
	for i, span := range r.Spans {
		begins, ends := r.Points[s.latencies[i].Begin], r.Points[s.latencies[i].End]
		d := inSystem(begins.Bins, ends.Bins, begins.Width, r.Real, r.Delay, span.InSystem)
		// Of points that were not seen happening the bins tell when they were met.
		const few = 0.01
		if visits := count(begins.Bins) + count(ends.Bins); float64(span.Late) > few*float64(visits) {
			d.AreaNS = sampledArea(span.Samples, begins.Width, r.Real, r.Delay, span.InSystem, span.Early)
		}
		d.TotalNS, d.Unmatched, d.Again = int64(span.Total), span.Unmatched, span.Again
		d.Carried, d.Late = span.Carried, span.Late
		// The bins alone tell how many: a visit may be under way on another core that began before the end.
		for bin, n := range span.Bins {
			if n > 0 {
				d.Bins = append(d.Bins, [2]int64{int64(bin), int64(n)})
				d.Matched += int64(n)
			}
		}
		all = append(all, d)
	}
	return all
}

func count(bins []uint32) (sum int64) {
	for _, n := range bins {
		sum += int64(n)
	}
	return sum
}

// inSystem integrates how many were in the system, through the same window as weigh:
// by Little's law that time, over the number that came, is the mean latency. What is
// begun and ended within a bin is taken to be spread evenly over it.
func inSystem(begins, ends []uint32, width, real, delay time.Duration, atStart int64) profile.Durations {
	d := profile.Durations{InSystem: atStart}
	n := float64(atStart)
	window(len(begins), width, real, delay, func(i int, weight float64) {
		came, went := float64(begins[i]), float64(ends[i])
		d.AreaNS += weight * (n + (came-went)/2) * float64(width)
		d.Begun += weight * came
		d.Ended += weight * went
		n += came - went
	})
	return d
}

// sampledArea is the same integral from the numbers that were found at moments that do not
// depend on the program, each of which stands until the next.
func sampledArea(samples []uint32, width, real, delay time.Duration, atStart, early int64) (area float64) {
	n := float64(atStart)
	window(len(samples), width, real, delay, func(i int, weight float64) {
		if samples[i] != 0 {
			n = float64(int64(int32(samples[i])>>1) + early)
		}
		area += weight * n * float64(width)
	})
	return area
}

// carried counts, for experiments of one length, how many requests ended in them, and
// how many of those had begun before.
type carried struct{ matched, before int64 }

// add counts an experiment, and tells whether so many were carried that their
// durations say little about the experiments that they are counted in; then it
// begins to count anew.
func (c *carried) add(all []profile.Durations) bool {
	const (
		enough = 50
		many   = 0.02 // the p99 would be made of them
	)
	for _, d := range all {
		c.matched += d.Matched
		c.before += d.Carried
	}
	if c.before == 0 || c.matched < enough && c.before < c.matched || float64(c.before) <= many*float64(c.matched) {
		return false
	}
	*c = carried{}
	return true
}
