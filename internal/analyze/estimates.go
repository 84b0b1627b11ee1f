package analyze

import (
	"cmp"
	"fmt"
	"slices"

	"whatif/internal/profile"
)

// Estimates are what a recording says about all units, without experiments: package estimate makes them.
type Estimates struct {
	Seconds float64 // of the recording
	Refused string  // why there are none at all; "" if there are some
	Within  bool    // of a run of experiments: their kernel side was at work while it was recorded
	// Outside is how many of 100 wake-ups were by processes outside of the recording, or by other machines. The simulated
	// clients ask again as soon after an answer as they were seen to, which real ones may not.
	Outside float64
	Points  []EstimatedPoint
	Units   []EstimatedUnit // the largest first
}

// EstimatedPoint is a point of the recording.
type EstimatedPoint struct {
	Name   string
	Visits int
	Rate   float64 // visits per second
	// Mean is the mean latency of the requests that end there, in ns, and Quantiles are its quantiles
	// in the order of the variable Quantiles; 0 and nil if they are not known.
	Mean      float64
	Quantiles []float64
	Matched   int // requests with a known latency
}

// EstimatedUnit is a unit of the recording. Its time is in the same figures as in Target.
type EstimatedUnit struct {
	Unit    profile.Unit
	Share   float64
	Samples int64
	Waiting map[string]float64
	Waited  float64
	Memory  Estimate // percent of its CPU time that waits for memory
	Calls   float64  // percent of a function's time that other functions of the program have that it calls
	// Together is what the unit is made of, if it is several at once.
	Together []profile.Part
	Effects  []EstimatedEffect
}

// EstimatedEffect is what a faster unit does to one metric of one point.
type EstimatedEffect struct {
	Point   string
	Metric  Metric
	Levels  []Level // at every 5%, in ascending order; nil if refused
	Refused string  // why there are none
}

// Basis says what is known of an effect. Its values are those of JSON reports.
type Basis string

// The bases.
const (
	Tested    Basis = "tested"    // by experiments
	Estimated Basis = "estimated" // from a recording
	Both      Basis = "both"
	Nothing   Basis = "none"
)

// Basis says whether experiments or a recording tell about the effect.
func (e *Effect) Basis() Basis {
	switch tested, estimated := e.Experiments > 0, len(e.Estimated) > 0; {
	case tested && estimated:
		return Both
	case tested:
		return Tested
	case estimated:
		return Estimated
	}
	return Nothing
}

// EstimateAt is the estimate at a speed-up; ok is false if there is none.
func (e *Effect) EstimateAt(speedup int) (gain Estimate, ok bool) {
	for _, l := range e.Estimated {
		if l.Speedup == speedup && l.Gain.Known {
			return l.Gain, true
		}
	}
	return Estimate{}, false
}

// AddEstimates puts what a recording says beside what experiments say. Units without experiments, or with too few,
// get the verdict of their estimates. Where both are known and their intervals do not meet, the experiments are
// believed, and a warning says so.
func (r *Result) AddEstimates(from *Estimates) {
	r.Estimates = from
	r.crossCheck(from)
	r.describePoints(from)
	index := map[profile.UnitKey]int{}
	for i := range r.Targets {
		index[r.Targets[i].Unit.Key()] = i
	}
	for i := range from.Units {
		u := &from.Units[i]
		t, known := index[u.Unit.Key()]
		if !known {
			t = len(r.Targets)
			index[u.Unit.Key()] = t
			r.Targets = append(r.Targets, r.newTarget(u))
		}
		r.addUnit(&r.Targets[t], u)
	}
	r.forgetUntried()
	r.markNeverVisited()
	r.warnOfDifferences()
	r.boundEstimates()
	rank(r.Targets)
}

// boundEstimates marks estimates of throughput as upper bounds where much of the load comes from outside of the
// recording.
func (r *Result) boundEstimates() {
	if r.Estimates.Outside <= networkPercent || r.Estimates.Refused != "" {
		return
	}
	r.Warnings.Add("outside-clients", "%.0f%% of the recorded wake-ups came from processes outside of the recording, or "+
		"from other machines: estimates hold for clients that wait for each answer, and are upper bounds for others. Record "+
		"the clients, too, to know more", r.Estimates.Outside)
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			e := &r.Targets[i].Effects[j]
			e.EstimateBound = e.Metric == Throughput && len(e.Estimated) > 0
		}
	}
}

// newTarget is a unit that no experiment met.
func (r *Result) newTarget(u *EstimatedUnit) Target {
	t := Target{Unit: u.Unit, Share: u.Share, Samples: u.Samples, Waiting: u.Waiting, Waited: u.Waited,
		Together: u.Together}
	for k := range r.Points {
		t.Effects = append(t.Effects, Effect{Point: k, Metric: Throughput, Verdict: Unsure, Phase: 1})
	}
	for _, l := range r.Latencies {
		t.Effects = append(t.Effects, Effect{Point: l.End, Metric: MeanLatency, Verdict: Unsure, Phase: 1})
		for i := range l.Quantiles {
			t.Effects = append(t.Effects, Effect{Point: l.End, Metric: Quantiles[i].Metric, Verdict: Unsure, Phase: 1})
		}
	}
	return t
}

// addUnit adds the estimates of one unit.
func (r *Result) addUnit(t *Target, u *EstimatedUnit) {
	t.Memory, t.Calls = u.Memory, u.Calls
	if t.Tried == 0 && t.Samples == 0 && t.Waited == 0 {
		t.Share, t.Samples, t.Waiting, t.Waited = u.Share, u.Samples, u.Waiting, u.Waited
	}
	for i := range u.Effects {
		from := &u.Effects[i]
		k := slices.IndexFunc(r.Points, func(p Point) bool { return p.Name == from.Point })
		if k < 0 {
			continue // the recording has a point that the run does not know
		}
		at := slices.IndexFunc(t.Effects, func(e Effect) bool { return e.Point == k && e.Metric == from.Metric })
		if at < 0 {
			at = len(t.Effects)
			t.Effects = append(t.Effects, Effect{Point: k, Metric: from.Metric, Verdict: Unsure, Phase: 1})
		}
		e := &t.Effects[at]
		e.Estimated, e.Refused = from.Levels, from.Refused
		e.EstimateVerdict = estimatedVerdict(e.Estimated, r.Margin)
		switch basis := e.Basis(); {
		case e.OnlyEstimated():
			e.Verdict = e.EstimateVerdict
			e.Reason = "estimated from a recording, not tested by experiments"
			if basis == Both {
				e.Reason = "estimated from a recording: too few experiments test it"
			}
		case basis == Both:
			e.warnIfDifferent()
		case basis == Nothing && e.Refused != "":
			e.Reason = "no estimate: " + e.Refused
		}
	}
}

// estimatedVerdict is like judge, for estimates: the limits are the same, but there is no correction for the number of
// units, as their errors are not independent. The quarters count.
func estimatedVerdict(levels []Level, margin float64) Verdict {
	most, least, within := 0.0, 0.0, true
	for _, l := range levels {
		if !l.Gain.Bounded {
			return Unsure
		}
		if l.Speedup%25 != 0 {
			continue // of twenty levels one is often beyond its interval by chance
		}
		most, least = max(most, l.Gain.Low), min(least, l.Gain.High)
		within = within && l.Gain.Low >= -margin && l.Gain.High <= margin
	}
	switch {
	case most >= margin/2 && most >= -least:
		return Faster
	case least <= -margin/2:
		return Slower
	case within:
		return None
	}
	return Unsure
}

// warnIfDifferent compares the estimates with the experiments, at the quarters.
func (e *Effect) warnIfDifferent() {
	worst, gap := 0, 0.0
	for speedup := 25; speedup <= 100; speedup += 25 {
		tested, ok := e.At(speedup)
		estimated, known := e.EstimateAt(speedup)
		if !ok || !known || !tested.Bounded || !estimated.Bounded {
			continue
		}
		if g := max(tested.Low-estimated.High, estimated.Low-tested.High); g > gap {
			worst, gap = speedup, g
		}
	}
	if worst == 0 {
		return
	}
	tested, _ := e.At(worst)
	estimated, _ := e.EstimateAt(worst)
	e.Warnings.Add(estimateDiffers, "at %d%% experiments say %.1f (%.1f to %.1f), the recording %.1f (%.1f to %.1f): "+
		"the experiments are believed", worst, tested.Value, tested.Low, tested.High,
		estimated.Value, estimated.Low, estimated.High)
}

// estimateDiffers is the code of the warning that experiments and a recording say different things.
const estimateDiffers = "estimate-differs"

// warnOfDifferences says for how many of the units with both the recording was wrong: the others may be, too.
func (r *Result) warnOfDifferences() {
	both, differ := 0, 0
	for i := range r.Targets {
		has, warned := false, false
		for j := range r.Targets[i].Effects {
			e := &r.Targets[i].Effects[j]
			has = has || e.Basis() == Both
			warned = warned || slices.ContainsFunc(e.Warnings, func(w Warning) bool { return w.Code == estimateDiffers })
		}
		if has {
			both++
		}
		if warned {
			differ++
		}
	}
	if differ > 0 {
		r.Warnings.Add(estimateDiffers, "of %d %s with experiments and estimates, %d %s: experiments are believed; "+
			"estimates of units that were not tested may be off, too", both, plural(both, "unit"), differ,
			map[bool]string{true: "differs", false: "differ"}[differ == 1])
	}
	if r.Estimates.Refused != "" {
		r.Warnings.Add("no-estimates", "the recording gives no estimates: %s", r.Estimates.Refused)
	}
}

// describePoints fills in what only the recording knows.
func (r *Result) describePoints(from *Estimates) {
	for _, p := range from.Points {
		k := slices.IndexFunc(r.Points, func(q Point) bool { return q.Name == p.Name })
		if k < 0 {
			continue
		}
		r.Points[k].Visits = max(r.Points[k].Visits, int64(p.Visits))
		r.Points[k].Rate = cmp.Or(r.Points[k].Rate, p.Rate)
		for i := range r.Latencies {
			if l := &r.Latencies[i]; l.End == k && l.Mean == 0 && l.Quantiles == nil && p.Mean > 0 {
				l.Mean, l.Quantiles, l.InSystem, l.Matched = p.Mean, p.Quantiles, p.Rate*p.Mean/1e9, int64(p.Matched)
			}
		}
	}
}

// forgetUntried removes the warnings that units were not tried and, if the run had no experiments at all, those that it
// had none: the estimates say what there is to say.
func (r *Result) forgetUntried() {
	untried := Warning{"few-experiments", "never tried"}
	remove := func(w *Warnings, unwanted func(Warning) bool) { *w = slices.DeleteFunc(*w, unwanted) }
	for i := range r.Targets {
		t := &r.Targets[i]
		if slices.ContainsFunc(t.Effects, func(e Effect) bool { return len(e.Estimated) > 0 }) {
			remove(&t.Warnings, func(w Warning) bool { return w == untried })
		}
	}
	if !r.recordedOnly() {
		return
	}
	noExperiment := func(w Warning) bool {
		return slices.Contains([]string{"no-data", "no-baseline", "no-units", "no-latency"}, w.Code)
	}
	remove(&r.Warnings, noExperiment)
	for k := range r.Points {
		p := &r.Points[k]
		remove(&p.Warnings, noExperiment)
		if p.Visits > 0 { // the recording has them
			said := slices.Clone(p.Warnings)
			never := func(w Warning) bool { return w.Code == "never-visited" && slices.Contains(said, w) }
			remove(&r.Warnings, never)
			remove(&p.Warnings, never)
		}
	}
	for i := range r.Latencies {
		remove(&r.Latencies[i].Warnings, noExperiment)
	}
}

// recordedOnly says whether a recording is all that there is.
func (r *Result) recordedOnly() bool {
	return r.Estimates != nil && r.Experiments+r.Baselines+total(r.SetAside) == 0
}

// estimatesDoubt is the doubt about a result that is only a recording.
func (r *Result) estimatesDoubt() string {
	switch {
	case len(r.Points) > 0 && !slices.ContainsFunc(r.Points, func(p Point) bool { return p.Visits > 0 }):
		return "this run tells no gain" + r.because()
	case r.Estimates.Refused != "":
		return "this run tells nothing: " + r.Estimates.Refused
	case len(r.Estimates.Units) == 0:
		return fmt.Sprintf("this run tells nothing: no unit of the recording has enough of its %.1f s", r.Estimates.Seconds)
	}
	return ""
}
