package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// judge decides the verdicts on effects, each by the first rule that holds. "Certainly" means with
// the whole 95% interval.
//
//  1. unsure: no interval is known.
//  2. none: at every level the gain is certainly within ±margin.
//  3. faster, or slower: the slope differs from zero, or the gain at some level does (the curve
//     bends), and that is no chance among all units that were tried; and the largest gain, or loss,
//     of the curve is at least half of the margin. The slope's sign decides, if it differs from
//     zero; otherwise that of the most certain level.
//  4. unsure.
//
// A table is the effects of all units on one metric of one point. For a whole table, the
// probability that any unit without an effect gets "faster" or "slower" is at most 5%. Each effect
// has a probability of being as far from zero by chance. Four fifths of it are for the slope, which
// is one number; one fifth is for the most certain level, divided by the number of levels. Holm's
// procedure takes the effects in the order of this probability, as long as each is below 5% over
// the number of those not yet taken (Scand. J. Stat. 6, 1979). That holds for any dependence
// between effects, and these share their baselines. Intervals that hold for all units at once
// (Bonferroni's) would say the same of the first effect, and less of all others. The intervals in
// reports are each unit's own.
//
// "none" is not corrected: it says that an effect is small, not that there is one.
func judge(table []*Effect, margin float64) (among int) {
	tested := make([]*Effect, 0, len(table))
	for _, e := range table {
		e.Verdict, e.chance = Unsure, 1
		if e.Slope.Bounded {
			e.chance = e.byChance()
			tested = append(tested, e)
		}
	}
	slices.SortStableFunc(tested, func(a, b *Effect) int { return cmp.Compare(a.chance, b.chance) })
	among = len(tested)
	holds := true
	for i, e := range tested {
		holds = holds && e.chance <= Alpha/float64(among-i)
		e.judge(holds, margin)
	}
	return among
}

// slopePart is the part of an effect's error probability that is for the slope.
const slopePart = 0.8

// byChance is the probability that an effect is as far from zero as this one if there is none.
func (e *Effect) byChance() float64 {
	p := e.uncertainty.chance(e.Slope.Value) / slopePart
	if l, n := e.mostCertain(); l != nil {
		p = min(p, l.uncertainty.chance(l.Gain.Value)*float64(n)/(1-slopePart))
	}
	return min(1, p)
}

// mostCertain is the level that is furthest from zero, relative to its uncertainty; n is the number
// of levels.
func (e *Effect) mostCertain() (best *Level, n int) {
	most := 0.0
	for i := range e.Curve {
		l := &e.Curve[i]
		if l.uncertainty.noise <= 0 || !l.Gain.Bounded {
			continue
		}
		n++
		if far := math.Abs(l.Gain.Value) / l.uncertainty.half(Alpha); far > most {
			best, most = l, far
		}
	}
	return best, n
}

// judge sets the verdict of an effect that has an interval.
func (e *Effect) judge(holds bool, margin float64) {
	if within(e, margin) {
		e.Verdict = None
		return
	}
	if !holds {
		return
	}
	sign := e.Slope.Value
	if l, _ := e.mostCertain(); e.Slope.Low <= 0 && e.Slope.High >= 0 && l != nil {
		sign = l.Gain.Value
	}
	least, most := e.extremes()
	switch {
	case sign > 0 && most >= margin/2:
		e.Verdict = Faster
	case sign < 0 && least <= -margin/2:
		e.Verdict = Slower
	}
}

// reason says in words why the verdict is what it is; among is the number of units in the table.
func (e *Effect) reason(among int, margin float64) string {
	gains, loses := "the program gains", "the program slower"
	if e.Metric != Throughput {
		gains, loses = "latency falls", "latency longer"
	}
	switch e.Verdict {
	case None:
		if most := e.LargestSpeedup(); most < 100 {
			return fmt.Sprintf("no effect: less than %.3g%% either way up to %d%% faster; beyond that was not tried",
				margin, most)
		}
		return fmt.Sprintf("no effect: less than %.3g%% either way, however fast it is", margin)
	case Faster:
		switch e.Shape {
		case Linear:
			return gains + " in proportion: nothing else takes over"
		case Plateau:
			return fmt.Sprintf("%s up to %d%%: from there on another bottleneck takes over", gains, e.ShapeAt)
		case Peak:
			return fmt.Sprintf("%s most at %d%%: beyond, this gets in the way of others", gains, e.ShapeAt)
		}
		return gains
	case Slower:
		if e.Shape == Peak {
			return fmt.Sprintf("contention: %s up to %d%%, and beyond, this gets in the way of others", gains, e.ShapeAt)
		}
		return "contention: making this faster makes " + loses
	}
	switch {
	case e.Experiments == 0:
		return "not enough data: no experiment that can be compared with baselines"
	case !e.Slope.Bounded && e.Experiments < leastTrials:
		return fmt.Sprintf("not enough data: %d %s, and an interval needs %d",
			e.Experiments, plural(e.Experiments, "experiment"), leastTrials)
	case !e.Slope.Bounded:
		return "not enough data: too few baselines to know the noise"
	case e.chance <= Alpha/float64(max(among, 1)):
		return "a small effect at most: a longer run tells whether there is one"
	case e.chance <= Alpha:
		return fmt.Sprintf("not enough data: it looks real by itself, but among %d units one such result may well be luck",
			among)
	}
	return "not enough data: the intervals are too wide to tell"
}

// MaybeLuck says that the effect would be certain if its unit were the only one, and is not among
// those that were tried.
func (e *Effect) MaybeLuck() bool { return e.Verdict == Unsure && e.Slope.Bounded && e.chance <= Alpha }

// LargestSpeedup is the largest speed-up that was tried. Statements about the effect hold up to
// there.
func (e *Effect) LargestSpeedup() int {
	if n := len(e.Curve); n > 0 {
		return e.Curve[n-1].Speedup
	}
	return 0
}

// within says that the whole curve is certainly within ±margin.
func within(e *Effect, margin float64) bool {
	for _, l := range e.Curve {
		if !l.Gain.Bounded || l.Gain.Low < -margin || l.Gain.High > margin {
			return false
		}
	}
	return true
}

// extremes are the least and the largest gain of the curve, which begins at 0.
func (e *Effect) extremes() (least, most float64) {
	for _, l := range e.Curve {
		if l.Gain.Known {
			least, most = min(least, l.Gain.Value), max(most, l.Gain.Value)
		}
	}
	return least, most
}

// certainLevels says whether some level certainly gains, and whether some certainly loses, with
// intervals that hold for all levels together.
func (e *Effect) certainLevels() (up, down bool) {
	n := 0
	for _, l := range e.Curve {
		if l.uncertainty.noise > 0 {
			n++
		}
	}
	for _, l := range e.Curve {
		if l.uncertainty.noise <= 0 || !l.Gain.Bounded {
			continue
		}
		h := l.uncertainty.half(Alpha / float64(n))
		up = up || l.Gain.Value > h
		down = down || l.Gain.Value < -h
	}
	return up, down
}
