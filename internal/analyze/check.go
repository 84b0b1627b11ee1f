package analyze

import "fmt"

// Finding is what a check says of one limit.
type Finding struct {
	Answer Answer
	Text   string
}

// Answer is how a check came out.
type Answer string

const (
	Holds   Answer = "holds"    // surely
	Fails   Answer = "fails"    // surely
	NotSure Answer = "not sure" // the intervals allow both
)

// A tried level is one of a curve that a check looks at.
type triedLevel struct {
	target *Target
	level  *Level
	point  string
}

func (t triedLevel) String() string {
	return fmt.Sprintf("%s, %d%% faster", t.target.Unit.Name, t.level.Speedup)
}

// tried is what a check looks at: the gain in throughput or in mean latency of every unit at every
// speed-up, at one point, or at all if its name is empty.
func (r *Result) tried(point string) (all []triedLevel) {
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			e := &r.Targets[i].Effects[j]
			if e.Experiments == 0 || e.Metric != Throughput && e.Metric != MeanLatency || point != "" && r.Points[e.Point].Name != point {
				continue
			}
			for k := range e.Curve {
				if e.Curve[k].Speedup > 0 {
					all = append(all, triedLevel{&r.Targets[i], &e.Curve[k], r.Points[e.Point].Name})
				}
			}
		}
	}
	return all
}

// some finds out whether any of the levels that were tried has what is asked of its interval: that is the one that
// holds for all of them together (Bonferroni), because many are looked at. one is one that surely has;
// maybe one that may have, if none surely has; neither is set if surely none has.
func (r *Result) some(point string, surely, perhaps func(low, high float64) bool) (tried int, one, maybe *triedLevel, unknown bool) {
	all := r.tried(point)
	for i := range all {
		t := &all[i]
		if !t.level.Gain.Bounded {
			unknown = true
			continue
		}
		half := t.level.doubt.half(alpha / float64(len(all)))
		low, high := t.level.Gain.Value-half, min(100, t.level.Gain.Value+half)
		switch {
		case one == nil && surely(low, high):
			one = t
		case maybe == nil && perhaps(low, high):
			maybe = t
		}
	}
	return len(all), one, maybe, unknown
}

// finding says how a question about all levels came out, if none surely has what was asked for.
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

// CheckLeast finds out whether some unit, made faster, would gain at least so many percent at
// some point; an empty name stands for all points.
func (r *Result) CheckLeast(limit float64, point string) Finding {
	tried, one, maybe, unknown := r.some(point,
		func(low, _ float64) bool { return low >= limit }, func(_, high float64) bool { return high >= limit })
	if one != nil {
		return Finding{Holds, fmt.Sprintf("%s, surely gains %.4g%% at %s", one, limit, one.point)}
	}
	return finding(tried, maybe, unknown, Finding{Fails, fmt.Sprintf("none of the units tried would gain %.4g%%", limit)},
		fmt.Sprintf("a unit would gain %.4g%%", limit))
}

// CheckLoss finds out whether some unit, made faster, would lose more than so many
// percent.
func (r *Result) CheckLoss(limit float64, point string) Finding {
	tried, one, maybe, unknown := r.some(point,
		func(_, high float64) bool { return high < -limit }, func(low, _ float64) bool { return low < -limit })
	if one != nil {
		return Finding{Fails, fmt.Sprintf("%s, surely costs more than %.4g%% at %s", one, limit, one.point)}
	}
	return finding(tried, maybe, unknown, Finding{Holds, fmt.Sprintf("no unit tried would cost more than %.4g%%", limit)},
		fmt.Sprintf("a unit would cost more than %.4g%%", limit))
}

// CheckLeast finds out whether the program gained at least so many percent at some point.
func (c *Comparison) CheckLeast(limit float64, point string) Finding {
	return c.check(point, fmt.Sprintf("gained %.4g%%", limit), fmt.Sprintf("gained less than %.4g%%", limit), false,
		func(e Estimate) bool { return e.Low >= limit }, func(e Estimate) bool { return e.High < limit })
}

// CheckLoss finds out whether the program lost more than so many percent at any point.
func (c *Comparison) CheckLoss(limit float64, point string) Finding {
	return c.check(point, fmt.Sprintf("lost no more than %.4g%%", limit), fmt.Sprintf("lost more than %.4g%%", limit), true,
		func(e Estimate) bool { return e.Low >= -limit }, func(e Estimate) bool { return e.High < -limit })
}

// check asks of every point, or of any, whether something surely holds or surely does not: with the intervals
// that hold for all of them together. What one run of each says is never sure.
func (c *Comparison) check(point, what, other string, every bool, holds, fails func(Estimate) bool) Finding {
	var asked []*PointChange
	for i := range c.Points {
		if point == "" || c.Points[i].Name == point {
			asked = append(asked, &c.Points[i])
		}
	}
	var yes, no, unknown []string
	single := false
	for _, p := range asked {
		gain := p.change.gain(alpha / float64(len(asked)))
		switch {
		case !p.Gain.Bounded || !p.BetweenRuns:
			unknown = append(unknown, p.Name)
			single = single || p.Gain.Known && !p.BetweenRuns
		case holds(gain):
			yes = append(yes, p.Name)
		case fails(gain):
			no = append(no, p.Name)
		default:
			unknown = append(unknown, p.Name)
		}
	}
	of := func(names []string) string {
		if len(names) == 1 {
			return names[0]
		}
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	switch {
	case len(asked) == 0:
		return Finding{NotSure, "no point to compare"}
	case every && len(no) > 0:
		return Finding{Fails, of(no) + " surely has " + other}
	case !every && len(yes) > 0:
		return Finding{Holds, of(yes) + " surely has " + what}
	case len(unknown) > 0:
		text := "whether " + of(unknown) + " has " + what + " is not certain"
		if single {
			text += ": one run of each tells nothing of how runs differ; add runs to both"
		}
		return Finding{NotSure, text}
	case every:
		return Finding{Holds, of(yes) + " surely has " + what}
	}
	return Finding{Fails, of(no) + " surely has " + other}
}
