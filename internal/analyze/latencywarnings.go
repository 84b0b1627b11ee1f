package analyze

import (
	"fmt"
	"math"

	"whatif/internal/profile"
)

const (
	// leastMatched is the share of ends that must have a begin for there to be a distribution. With
	// less, those that have one are not representative.
	leastMatched = 0.5
	// manyUnmatched and manyAgain are shares from which a warning is given.
	manyUnmatched = 0.02
	manyAgain     = 0.01
	// manyCarried is the share of carried requests from which a warning is given. Above it, the p99
	// consists of requests that saw two speeds.
	manyCarried = 0.02
	// meansDiffer is by how much the mean by Little's law may differ from that of the measured
	// durations.
	meansDiffer = 0.1
)

func (l *Latency) warn(code, format string, args ...any) {
	l.Warnings.Add(code, "latency %s: %s", l.Name, fmt.Sprintf(format, args...))
}

// latencyWarnings adds the warnings about a latency's figures.
func (in *input) latencyWarnings(l *Latency) {
	var again, carried, begun, late, total, baseMatched float64
	for r, run := range in.runs {
		for i := range run.Experiments {
			d, _ := in.durations(l, r, &run.Experiments[i])
			if d == nil {
				continue
			}
			again += float64(d.Again)
			carried += float64(d.Carried)
			begun += d.Begun
			late += float64(d.Late)
		}
	}
	in.eachBaseline(l, func(d *profile.Durations, _ float64) {
		total += float64(d.TotalNS)
		baseMatched += float64(d.Matched)
	})
	matched, ends := float64(l.Matched), float64(l.Matched+l.Unmatched)
	switch {
	case l.Counted:
	case ends == 0:
		l.warn("no-latency", "no request ended while it was measured: run longer, or choose another end")
		return
	case matched < leastMatched*ends:
		l.warn("handed-over", "%.0f%% of the ends had no begin in the same thread: requests change threads, so there is a "+
			"mean but no distribution; give both points a key (%%argN)", 100*(1-matched/ends))
	case matched < (1-manyUnmatched)*ends:
		l.warn("unmatched", "%.0f%% of the ends had no begin: these requests are in the mean, and not in the percentiles",
			100*(1-matched/ends))
	}
	if seen := matched + ends; !l.Counted && late > manyUnmatched*(late+seen) {
		l.warn("counted", "%.0f%% of the begins and ends were counted without their time: these requests are in the "+
			"mean, and not in the percentiles", 100*late/(late+seen))
	}
	if again > manyAgain*matched {
		l.warn("again", "%.0f%% began again before they had ended: nested or given up; the last begin counts",
			100*again/max(matched, again))
	}
	if carried > manyCarried*matched {
		l.warn("long", "%.0f%% of those that ended had begun before their experiment: changes of the longest are "+
			"underestimated; try a longer --experiment", 100*carried/matched)
	}
	if in.unstable(l) {
		l.warn("unstable", "more requests begin than end, so the latency keeps growing and has no mean: lower the load")
	} else if mean := total / baseMatched; baseMatched > 0 && matched >= (1-manyUnmatched)*ends &&
		math.Abs(l.Mean/mean-1) > meansDiffer {
		l.warn("disagree", "the mean is %s by how many requests are under way, and %s by how long they took: "+
			"some begin or end elsewhere",
			Duration(l.Mean), Duration(mean))
	}
	in.loadWarnings(l)
}

// unstable says whether the number of requests in the system grew by more than a hundredth of all
// that arrived, and beyond chance. The steps from one experiment to the next tell what chance does.
// In a stable system they are independent and go down as often as up, so their sum is hardly larger
// than one of them.
func (in *input) unstable(l *Latency) bool {
	const sigmas = 4
	for r, run := range in.runs {
		var first, last, before, squares, steps, begun float64
		for i := range run.Experiments {
			e := &run.Experiments[i]
			d, _ := in.durations(l, r, e)
			if d == nil {
				continue
			}
			n := float64(d.InSystem)
			if steps == 0 && begun == 0 {
				first, before = n, n
			} else {
				steps++
				squares += (n - before) * (n - before)
			}
			begun += max(d.Begun, 1e-9)
			last, before = n, n
		}
		grown := last - first
		// The squares include the part of a steady growth; subtract it.
		chance := math.Sqrt(max(0, squares/max(steps, 1)-grown*grown/max(steps*steps, 1)))
		if steps >= 10 && grown > sigmas*max(chance, 1) && grown > 0.01*begun {
			return true
		}
	}
	return false
}

// loadWarnings warns if the speed-up of a unit changes how many requests arrive: the latency is
// then that under another load.
func (in *input) loadWarnings(l *Latency) {
	const worth = 5 // percentage points of throughput
	for u := range in.targets {
		tg := &in.targets[u]
		come := &tg.Effects[l.Begin]
		up, down := come.certainLevels()
		least, most := come.extremes()
		if !(up && most > worth) && !(down && least < -worth) {
			continue
		}
		for i := range tg.Effects {
			e := &tg.Effects[i]
			if e.Metric != Throughput && e.Point == l.End {
				e.Warnings.Add("load", "requests come at another rate when this is faster (%+.0f%% at most): the latency is one "+
					"at that rate", max(most, -least)*math.Copysign(1, most+least))
			}
		}
	}
}

// Duration formats nanoseconds with three digits and a unit.
func Duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
