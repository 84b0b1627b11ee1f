package diff

import (
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/analyze/student"
)

// Prediction is what the real speed-up of a unit was predicted to gain, and what was realised.
type Prediction struct {
	Point int // index of Comparison.Points
	// OldNS and NewNS are the unit's CPU time per visit.
	OldNS, NewNS float64
	Speedup      analyze.Estimate // percent by which that fell
	// Faster says that the unit certainly became faster, by leastSpeedup, for all units taken
	// together. Only then Predicted is the gain that the old profile predicted for this speed-up,
	// and Outcome compares it with PointChange.Gain.
	Faster    bool
	Predicted analyze.Estimate
	Outcome   Outcome
	// Slower says that the unit certainly became slower, likewise.
	Slower bool
}

// Outcome says whether a prediction was realised. Its values are those of JSON reports.
type Outcome string

// The outcomes of a prediction.
const (
	Realised Outcome = "arrived"   // there is a gain, and nothing shows that it differs from the prediction
	Less     Outcome = "less"      // certainly less than predicted
	More     Outcome = "more"      // certainly more
	NotKnown Outcome = "not known" // the prediction or the real gain is too uncertain
)

// leastSpeedup, in percent, is less than any speed-up that a change of code is made for. A line's
// share changes by as much if its neighbours change.
const leastSpeedup = 3

// prediction is what became of a unit at point p. If an earlier point is about the same visits, the
// CPU time per visit comes from the prediction made for that point.
func (c *Comparison) prediction(
	s sides, m match, by *replacement, p int, made []Prediction, family float64,
) (k Prediction, ok bool) {
	if first := c.firstOf(p); first == p {
		k, ok = c.cost(s, by, p, family)
		k.Slower = k.Slower && m.new != nil // the function of a replaced line may do more now
	} else if i := slices.IndexFunc(made, func(k Prediction) bool { return k.Point == first }); i >= 0 {
		k, ok = made[i], true
		k.Predicted = analyze.Estimate{}
	}
	k.Point, k.Outcome = p, NotKnown
	if e := effectOn(c.Old, m.old, &c.Points[p]); ok && k.Faster && e != nil {
		k.Predicted = gainAtUncertain(e, k.Speedup)
		k.Outcome = outcome(k.Predicted, c.Points[p].Gain)
	}
	return k, ok
}

// cost compares the CPU time per visit of a unit, old and new. For replaced lines it is that of all
// lines that were replaced together.
func (c *Comparison) cost(s sides, by *replacement, p int, family float64) (Prediction, bool) {
	point := c.Points[p].Name
	old, ok := s.old.cost(point, by.gone)
	if !ok {
		return Prediction{}, false
	}
	k := Prediction{OldNS: math.Exp(old.mean())}
	var certain analyze.Estimate
	if new, ok := s.new.cost(point, by.came); ok {
		f := changeOf(old, new)
		k.NewNS = math.Exp(new.mean())
		k.Speedup, certain = f.gain(analyze.Alpha), f.gain(family)
	} else if sample, ok := s.new.costOfSample(point); ok {
		k.Speedup, certain = unseen(old, sample, analyze.Alpha), unseen(old, sample, family)
	} else {
		return Prediction{}, false
	}
	k.Faster = certain.Bounded && certain.Low > 0 && certain.Value >= leastSpeedup
	k.Slower = certain.Bounded && certain.High < 0 && certain.Value <= -leastSpeedup
	return k, true
}

// unseen is the speed-up of code that has no sample any more. The code may still take as much time as
// leaves no sample with probability alpha.
func unseen(old sumRatio, sample, alpha float64) analyze.Estimate {
	e := analyze.Estimate{Value: 100, High: 100, Known: true}
	if old.df > 0 {
		least := math.Exp(old.mean() - student.Quantile(alpha, old.df)*math.Sqrt(old.within))
		e.Low, e.Bounded = max(0, 100*(1+math.Log(alpha)*sample/least)), true
	}
	return e
}

// gainAtUncertain reads the curve at a speed-up that is itself uncertain: the interval includes those
// of the curve at both ends of the speed-up's interval.
func gainAtUncertain(e *analyze.Effect, speedup analyze.Estimate) analyze.Estimate {
	p, ok := gainAt(e, speedup.Value)
	if !ok {
		return analyze.Estimate{}
	}
	if !p.Bounded || !speedup.Bounded {
		p.Bounded = false
		return p
	}
	for _, s := range []float64{speedup.Low, speedup.High} {
		q, ok := gainAt(e, min(100, max(0, s)))
		if !ok || !q.Bounded {
			p.Bounded = false
			return p
		}
		p.Low, p.High = min(p.Low, q.Low), max(p.High, q.High)
	}
	return p
}

// gainAt reads the curve between its levels. Beyond the last level it extends the line from the
// origin through that level.
func gainAt(e *analyze.Effect, speedup float64) (analyze.Estimate, bool) {
	levels := slices.Concat(e.Curve, e.Marks)
	levels = slices.DeleteFunc(levels, func(l analyze.Level) bool { return !l.Gain.Known })
	slices.SortStableFunc(levels, func(a, b analyze.Level) int { return a.Speedup - b.Speedup })
	if len(levels) < 2 || speedup < 0 {
		return analyze.Estimate{}, false
	}
	hi := len(levels) - 1
	for i, l := range levels {
		if float64(l.Speedup) >= speedup && l.Speedup > 0 {
			hi = i
			break
		}
	}
	lo := hi - 1
	for lo > 0 && levels[lo].Speedup == levels[hi].Speedup {
		lo--
	}
	if float64(levels[hi].Speedup) < speedup {
		lo = 0
	}
	a, b := levels[lo], levels[hi]
	if a.Speedup == b.Speedup {
		return analyze.Estimate{}, false
	}
	w := (speedup - float64(a.Speedup)) / float64(b.Speedup-a.Speedup)
	mix := func(x, y float64) float64 { return x + w*(y-x) }
	return analyze.Estimate{Value: mix(a.Gain.Value, b.Gain.Value),
		Low: mix(a.Gain.Low, b.Gain.Low), High: mix(a.Gain.High, b.Gain.High),
		Known: true, Bounded: a.Gain.Bounded && b.Gain.Bounded}.AtMost(100), true
}

// outcome compares the predicted gain with the real one.
func outcome(predicted, actual analyze.Estimate) Outcome {
	if !predicted.Known || !predicted.Bounded || !actual.Known || !actual.Bounded {
		return NotKnown
	}
	d := actual.Value - predicted.Value
	switch {
	case d-math.Hypot(actual.Value-actual.Low, predicted.High-predicted.Value) > 0:
		return More
	case d+math.Hypot(actual.High-actual.Value, predicted.Value-predicted.Low) < 0:
		return Less
	case actual.Low > 0:
		return Realised
	}
	return NotKnown
}
