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

// CheckLeast finds out whether some unit, made faster, would gain at least so many percent at
// some point; an empty name stands for all points.
func (r *Result) CheckLeast(limit float64, point string) Finding {
	seen, sure, best := 0, true, ""
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Effects {
			e := &t.Effects[j]
			if e.Experiments == 0 || e.Metric != Throughput && e.Metric != MeanLatency || point != "" && r.Points[e.Point].Name != point {
				continue
			}
			seen++
			for _, l := range e.Curve {
				switch {
				case l.Speedup == 0:
				case !l.Gain.Bounded:
					sure = false
				case l.Gain.Low >= limit:
					return Finding{Holds, fmt.Sprintf("%s, %d%% faster, surely gains %.4g%% at %s", t.Unit.Name, l.Speedup, limit, r.Points[e.Point].Name)}
				case l.Gain.High >= limit:
					sure = false
					if best == "" {
						best = fmt.Sprintf(": %s may", t.Unit.Name)
					}
				}
			}
		}
	}
	switch {
	case seen == 0:
		return Finding{NotSure, "no unit was tried"}
	case sure:
		return Finding{Fails, fmt.Sprintf("none of the units tried would gain %.4g%%", limit)}
	}
	return Finding{NotSure, fmt.Sprintf("whether a unit would gain %.4g%% is not certain%s", limit, best)}
}

// CheckLoss finds out whether some unit, made faster, would lose more than so many
// percent: with the interval that holds for all units and speed-ups together.
func (r *Result) CheckLoss(limit float64, point string) Finding {
	n, sure, maybe := 0, true, ""
	each := func(visit func(t *Target, e *Effect, l *Level)) {
		for i := range r.Targets {
			for j := range r.Targets[i].Effects {
				e := &r.Targets[i].Effects[j]
				if e.Experiments == 0 || e.Metric != Throughput && e.Metric != MeanLatency || point != "" && r.Points[e.Point].Name != point {
					continue
				}
				for k := range e.Curve {
					if e.Curve[k].Speedup > 0 {
						visit(&r.Targets[i], e, &e.Curve[k])
					}
				}
			}
		}
	}
	each(func(*Target, *Effect, *Level) { n++ })
	if n == 0 {
		return Finding{NotSure, "no unit was tried"}
	}
	fails := ""
	each(func(t *Target, e *Effect, l *Level) {
		if !l.Gain.Bounded {
			sure = false
			return
		}
		half := l.doubt.half(alpha / float64(n))
		switch {
		case fails == "" && l.Gain.Value+half < -limit:
			fails = fmt.Sprintf("%s, %d%% faster, surely costs more than %.4g%% at %s", t.Unit.Name, l.Speedup, limit, r.Points[e.Point].Name)
		case l.Gain.Value-half < -limit:
			sure = false
			if maybe == "" {
				maybe = fmt.Sprintf(": %s may", t.Unit.Name)
			}
		}
	})
	switch {
	case fails != "":
		return Finding{Fails, fails}
	case sure:
		return Finding{Holds, fmt.Sprintf("no unit tried would cost more than %.4g%%", limit)}
	}
	return Finding{NotSure, fmt.Sprintf("whether a unit would cost more than %.4g%% is not certain%s", limit, maybe)}
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

// check asks of every point, or of any, whether something surely holds or surely does not. What
// one run of each says is never sure.
func (c *Comparison) check(point, what, other string, every bool, holds, fails func(Estimate) bool) Finding {
	var yes, no, unknown []string
	single := false
	for i := range c.Points {
		p := &c.Points[i]
		if point != "" && p.Name != point {
			continue
		}
		switch {
		case !p.Gain.Bounded || !p.BetweenRuns:
			unknown = append(unknown, p.Name)
			single = single || p.Gain.Known && !p.BetweenRuns
		case holds(p.Gain):
			yes = append(yes, p.Name)
		case fails(p.Gain):
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
	case len(yes)+len(no)+len(unknown) == 0:
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
