package analyze

import "fmt"

// Finding is the answer of a check of one limit, and its text.
type Finding struct {
	Answer Answer
	Text   string
}

// Answer says whether a limit holds.
type Answer string

const (
	Holds   Answer = "holds"    // with the whole interval
	Fails   Answer = "fails"    // with the whole interval
	NotSure Answer = "not sure" // the interval allows both
)

// A triedLevel is a level of a curve that a check looks at.
type triedLevel struct {
	target *Target
	level  *Level
	point  string
	bound  bool // its gain is an upper bound
}

func (t triedLevel) String() string {
	return fmt.Sprintf("%s, %d%% faster", t.target.Unit.Name, t.level.Speedup)
}

// triedLevels are the levels that a check looks at: every tried speed-up of every unit, for
// throughput and mean latency, at one point, or at all points if its name is empty.
func (r *Result) triedLevels(point string) (all []triedLevel) {
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			e := &r.Targets[i].Effects[j]
			if e.Experiments == 0 || e.Metric != Throughput && e.Metric != MeanLatency {
				continue
			}
			if point != "" && r.Points[e.Point].Name != point {
				continue
			}
			for k := range e.Curve {
				if e.Curve[k].Speedup > 0 {
					all = append(all, triedLevel{&r.Targets[i], &e.Curve[k], r.Points[e.Point].Name, e.UpperBound})
				}
			}
		}
	}
	return all
}

// anyLevel looks for a level with an interval that passes a test. Because many levels are looked
// at, their intervals hold for all of them together (Bonferroni). one is a level that certainly
// passes. maybe is one that may pass. unknown says that some levels have no interval.
func (r *Result) anyLevel(point string, certain, possible func(low, high float64) bool) (
	tried int, one, maybe *triedLevel, unknown bool,
) {
	all := r.triedLevels(point)
	for i := range all {
		t := &all[i]
		if !t.level.Gain.Bounded {
			unknown = true
			continue
		}
		half := t.level.uncertainty.half(Alpha / float64(len(all)))
		low, high := t.level.Gain.Value-half, min(100, t.level.Gain.Value+half)
		if t.bound { // the program may gain nothing
			low = min(low, 0)
		}
		switch {
		case one == nil && certain(low, high):
			one = t
		case maybe == nil && possible(low, high):
			maybe = t
		}
	}
	return len(all), one, maybe, unknown
}

// finding is the answer if no level certainly passes.
func finding(tried int, maybe *triedLevel, unknown bool, none Finding, question string) Finding {
	switch {
	case tried == 0:
		return Finding{NotSure, "no unit was tried"}
	case maybe != nil:
		return Finding{NotSure, fmt.Sprintf("whether %s is not certain: %s may", question, maybe.target.Unit.Name)}
	case unknown:
		return Finding{NotSure, fmt.Sprintf("whether %s is not certain", question)}
	}
	return none
}

// CheckLeast says whether some unit, made faster, would gain at least limit percent at some point.
// An empty name stands for all points.
func (r *Result) CheckLeast(limit float64, point string) Finding {
	tried, one, maybe, unknown := r.anyLevel(point,
		func(low, _ float64) bool { return low >= limit }, func(_, high float64) bool { return high >= limit })
	if one != nil {
		return Finding{Holds, fmt.Sprintf("%s, gains at least %.4g%% at %s (95%%)", one, limit, one.point)}
	}
	none := Finding{Fails, fmt.Sprintf("none of the units tried would gain %.4g%%", limit)}
	return finding(tried, maybe, unknown, none, fmt.Sprintf("a unit would gain %.4g%%", limit))
}

// CheckLoss says whether some unit, made faster, would cost more than limit percent. An empty name
// stands for all points.
func (r *Result) CheckLoss(limit float64, point string) Finding {
	tried, one, maybe, unknown := r.anyLevel(point,
		func(_, high float64) bool { return high < -limit }, func(low, _ float64) bool { return low < -limit })
	if one != nil {
		return Finding{Fails, fmt.Sprintf("%s, costs more than %.4g%% at %s (95%%)", one, limit, one.point)}
	}
	none := Finding{Holds, fmt.Sprintf("no unit tried would cost more than %.4g%%", limit)}
	return finding(tried, maybe, unknown, none, fmt.Sprintf("a unit would cost more than %.4g%%", limit))
}
