package experiment

import (
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// MaxLatencies is how many latencies one run can measure.
const MaxLatencies = ledger.MaxSpans

// addEnds makes points of the ends of the latencies.
func addEnds(cfg *Config) {
	cfg.Points = cfg.Points[:len(cfg.Points):len(cfg.Points)]
	for _, l := range cfg.Latencies {
		cfg.Points = append(cfg.Points, l.Begin, l.End)
	}
}

// firstEnd is the place among the points of the first latency's begin.
func (c *Config) firstEnd() int { return len(c.Points) - 2*len(c.Latencies) }

// argument is the argument of point i that is its key, or 0.
func (c *Config) argument(i int) int {
	k := i - c.firstEnd()
	switch {
	case k < 0:
		return 0
	case k%2 == 0:
		return c.Latencies[k/2].BeginKey
	}
	return c.Latencies[k/2].EndKey
}

// counterpart is the other point of the latency that point i begins or ends.
func (c *Config) counterpart(i int) int {
	k := i - c.firstEnd()
	return c.firstEnd() + (k ^ 1)
}

// setSpans tells the kernel side which points belong together.
func (s *session) setSpans() error {
	for i := range s.cfg.Latencies {
		begin := s.cfg.firstEnd() + 2*i
		if err := s.ledger.SetSpan(begin, begin+1); err != nil {
			return err
		}
	}
	return nil
}

// latencies describes them for the profile.
func latencies(cfg *Config) []profile.Latency {
	var all []profile.Latency
	for i, l := range cfg.Latencies {
		begin := cfg.firstEnd() + 2*i
		all = append(all, profile.Latency{Name: l.Name, Spec: l.Text, Begin: begin, End: begin + 1})
	}
	return all
}

// spans turns what was read of the latencies into the experiment's record.
func (s *session) spans(r ledger.Reading) []profile.Durations {
	var all []profile.Durations
	for i, span := range r.Spans {
		begin := s.cfg.firstEnd() + 2*i
		d := inSystem(r.Points[begin].Bins, r.Points[begin+1].Bins, r.Points[begin].Width, r.Real, r.Delay, span.InSystem)
		d.Matched, d.TotalNS = span.Matched, int64(span.Total)
		d.Unmatched, d.Again, d.Carried = span.Unmatched, span.Again, span.Carried
		for bin, n := range span.Bins {
			if n > 0 {
				d.Bins = append(d.Bins, [2]int64{int64(bin), int64(n)})
			}
		}
		all = append(all, d)
	}
	return all
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
