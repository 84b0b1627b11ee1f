package synthetic

import (
	"fmt"
	"math"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Comparison is an estimate for one point beside the truth. Gains are in percent: by how much the time between two
// visits shrinks, or a request's mean latency.
type Comparison struct {
	Point            int
	Visits           int // that are compared
	Estimated, Truth float64
	Base             float64 // by how much the unchanged simulated run takes longer than the recorded one, in percent
	Missing          bool    // the simulated run did not come to its end
	// Latencies are of points that have one, if at least leastLatencies requests began and ended.
	HasLatency                     bool
	EstimatedLatency, TruthLatency float64
}

// The end of a recording is not compared: the simulated threads run out of recorded actions there, each at its own
// time. The time of the first visit that was recorded in the last part of the window is where a comparison ends.
const (
	compared       = 0.9
	leastLatencies = 30
	// errorMissing stands for the error of a run that did not come to its end.
	errorMissing = 100
)

// Error is how far the estimate is off, in points.
func (c Comparison) Error() float64 {
	if c.Missing {
		return errorMissing
	}
	return math.Abs(c.Estimated - c.Truth)
}

// LatencyError is how far the estimated gain in latency is off, in points.
func (c Comparison) LatencyError() float64 {
	if c.Missing {
		return errorMissing
	}
	return math.Abs(c.EstimatedLatency - c.TruthLatency)
}

func (c Comparison) String() string {
	if c.Missing {
		return fmt.Sprintf("point %d: truth %.1f, but the simulated run stopped before its end", c.Point, c.Truth)
	}
	text := fmt.Sprintf("point %d: %.1f for %.1f (unchanged %+.1f%%, %d visits)",
		c.Point, c.Estimated, c.Truth, c.Base, c.Visits)
	if c.HasLatency {
		text += fmt.Sprintf(", latency %.1f for %.1f", c.EstimatedLatency, c.TruthLatency)
	}
	return text
}

// Compare compares two simulated runs, one with nothing changed, with the truth. Points without visits are left out.
//
// The same visits are compared everywhere: the first n of each window, where n is what the changed simulated run did
// before its threads ran out of actions. Each gain is the ratio of the times at which the n-th visit happened.
func Compare(same, changed simulate.Outcome, truth Truth) []Comparison {
	var all []Comparison
	for point := range truth.Same.Windows[0].Visits {
		c := Comparison{Point: point}
		visited := false
		var estimate, real, base ratio
		var latency, realLatency ratio
		for i := range truth.Same.Windows {
			was := truth.Same.Windows[i].Visits[point]
			if len(was) < 2 {
				continue
			}
			visited = true
			end := int64(compared * float64(truth.Same.Windows[i].Length))
			is, will, faster := visits(same, i, point), visits(changed, i, point), visits(truth.Changed, i, point)
			n, whole := before(will, end, was)
			n = min(n, len(is), len(faster), len(was))
			unchanged, also := before(is, end, was)
			unchanged = min(unchanged, len(was))
			if !whole || !also || n == 0 || unchanged == 0 {
				c.Missing = true
				continue
			}
			c.Visits += n
			estimate.add(will[n-1].Time, is[n-1].Time)
			real.add(faster[n-1].Time, was[n-1].Time)
			base.add(is[unchanged-1].Time, was[unchanged-1].Time)
			latency.latencies(will[:n], is[:n])
			realLatency.latencies(faster[:n], was[:n])
		}
		if !visited {
			continue
		}
		c.Estimated, c.Truth, c.Base = estimate.gain(), real.gain(), -base.gain()
		c.EstimatedLatency, c.TruthLatency = latency.gain(), realLatency.gain()
		c.HasLatency = min(latency.least(), realLatency.least()) >= leastLatencies
		all = append(all, c)
	}
	return all
}

func visits(o simulate.Outcome, window, point int) []simulate.Visit {
	if window >= len(o.Windows) || point >= len(o.Windows[window].Visits) {
		return nil
	}
	return o.Windows[window].Visits[point]
}

// before says how many visits were made before the first of those that were recorded after a time. Whole is false if
// there is none of those, although the recording has some.
func before(visits []simulate.Visit, end int64, recorded []simulate.Visit) (n int, whole bool) {
	if len(visits) == 0 {
		return 0, false
	}
	last := recorded[len(recorded)-1].Time
	end = min(end, last)
	until := int64(math.MaxInt64)
	for _, v := range visits {
		if v.Recorded >= end {
			until = min(until, v.Time)
		}
	}
	if until == math.MaxInt64 {
		return 0, false
	}
	for n < len(visits) && visits[n].Time <= until {
		n++
	}
	return n, true
}

// ratio adds up two amounts over windows: after and before a change.
type ratio struct {
	after, before   float64
	afters, befores int
}

func (r *ratio) add(after, before int64) {
	r.after += float64(after)
	r.before += float64(before)
}

func (r *ratio) latencies(after, before []simulate.Visit) {
	for _, v := range after {
		if v.Latency != recording.No {
			r.after += float64(v.Latency)
			r.afters++
		}
	}
	for _, v := range before {
		if v.Latency != recording.No {
			r.before += float64(v.Latency)
			r.befores++
		}
	}
}

func (r *ratio) least() int { return min(r.afters, r.befores) }

// gain is by how much the amount shrinks, in percent; of latencies, their mean.
func (r *ratio) gain() float64 {
	if r.before == 0 {
		return 0
	}
	after, before := r.after, r.before
	if r.afters > 0 && r.befores > 0 {
		after /= float64(r.afters)
		before /= float64(r.befores)
	}
	return 100 * (1 - after/before)
}
