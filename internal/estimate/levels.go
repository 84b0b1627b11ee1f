package estimate

import (
	"math"
	"slices"

	"whatif/internal/analyze"
)

// Which levels are simulated. An estimate is given at every step; most of them would say what their neighbours say. So
// 100% is simulated first, then the middle of an interval, and each half again if the middle is off a straight line
// between the ends. Curves are straight with corners where another bottleneck begins, and a corner shows in one of the
// middles. TestLevels measures how far interpolated levels are off, and how many runs that takes.
const (
	step     = 5     // percent, between two estimates
	straight = 0.004 // how far off the line a middle may be, as a part; or half a standard deviation, if that is more
	flat     = 0.01  // of a small unit: a gain up to this much at 100% is taken for a straight line
	// flatSlack is how far such a line may be off, as a part of the gain at 100%: a unit whose effect ends halfway.
	flatSlack = 0.3
	// cornerSlack is how far a corner between two levels can be off the line between them, in terms of how far the
	// middle was off.
	cornerSlack = 2
)

// curves are the gains of one unit as far as they were simulated: at each level one for each metric of each point.
type curves struct {
	run   func(percent int) []measured
	at    map[int][]measured
	slack map[int][]float64 // by the end of an interval that is interpolated: how far off a metric may be there
	ratio map[int][]float64 // at 50 and 100%: how far off it may be because a device's ratios are; nil: not at all
	small bool              // the unit has so little of the time that its curve cannot bend much
}

func newCurves(run func(percent int) []measured, small bool) *curves {
	c := &curves{run: run, at: map[int][]measured{}, slack: map[int][]float64{}, small: small}
	last := c.simulate(100)
	c.at[0] = make([]measured, len(last))
	for i := range last {
		c.at[0][i].df = last[i].df
	}
	if !small || c.most(last) > flat {
		c.refine(0, 100)
		return c
	}
	for _, m := range last {
		c.slack[100] = append(c.slack[100], flatSlack*math.Abs(m.gain))
	}
	return c
}

func (c *curves) simulate(percent int) []measured {
	c.at[percent] = c.run(percent)
	return c.at[percent]
}

// doubtRatios learns how far gains may be off because the ratios of a device are: at 100% and, unless the unit is
// small, at 50%. It is interpolated elsewhere: half a unit's time may matter where all of it does not, and the reverse.
func (c *curves) doubtRatios(errors func(percent int, found []measured) []float64) {
	at := func(percent int) []float64 {
		found := make([]measured, len(c.at[100]))
		for i := range found {
			found[i] = c.every(i)[percent/step]
		}
		return errors(percent, found)
	}
	c.ratio = map[int][]float64{100: at(100)}
	half := make([]float64, len(c.ratio[100]))
	for i, x := range c.ratio[100] {
		half[i] = x / 2
	}
	if !c.small {
		half = at(50)
	}
	c.ratio[50] = half
}

// ratioError is how far a metric may be off at a step because a device's ratios are.
func (c *curves) ratioError(metric, percent int) float64 {
	if c.ratio == nil {
		return 0
	}
	half, whole := c.ratio[50][metric], c.ratio[100][metric]
	if percent <= 50 {
		return half * float64(percent) / 50
	}
	return half + (whole-half)*float64(percent-50)/50
}

// most is the largest effect at any metric.
func (c *curves) most(all []measured) (most float64) {
	for _, m := range all {
		most = max(most, math.Abs(m.gain))
	}
	return most
}

// refine simulates the middle of an interval, and goes on where that is off the line.
func (c *curves) refine(low, high int) {
	middle := (low + high) / 2 / step * step
	if middle <= low {
		return
	}
	var off []float64
	bent := false
	for i, m := range c.simulate(middle) {
		x := math.Abs(m.gain - c.between(i, low, high, middle).gain)
		off = append(off, cornerSlack*x)
		bent = bent || !(x <= max(straight, m.sd/2))
	}
	if bent {
		c.refine(low, middle)
		c.refine(middle, high)
		return
	}
	c.slack[middle], c.slack[high] = off, off
}

// between interpolates one metric.
func (c *curves) between(metric, low, high, percent int) measured {
	a, b := c.at[low][metric], c.at[high][metric]
	x := float64(percent-low) / float64(high-low)
	m := measured{gain: a.gain + x*(b.gain-a.gain), sd: a.sd + x*(b.sd-a.sd), df: b.df,
		between: a.between + x*(b.between-a.between)}
	if slack := c.slack[high]; slack != nil && low < percent {
		m.slack = slack[metric]
	}
	return m
}

// every gives one metric at every step, from 0 on.
func (c *curves) every(metric int) (all []measured) {
	var known []int
	for percent := range c.at {
		known = append(known, percent)
	}
	slices.Sort(known)
	for i, high := range known[1:] {
		for percent := known[i]; percent < high; percent += step {
			all = append(all, c.between(metric, known[i], high, percent))
		}
	}
	return append(all, c.at[100][metric])
}

// levels gives the estimates of one metric at every step, with their intervals.
func (c *curves) levels(metric int, m *metricBase, u *Unit, on machine) (all []analyze.Level) {
	steps := c.every(metric)
	for i := 1; i < len(steps); i++ {
		rise := math.Abs(steps[i].gain - steps[i-1].gain) // in one step, on the steeper side
		if i+1 < len(steps) {
			rise = max(rise, math.Abs(steps[i+1].gain-steps[i].gain))
		}
		part := float64(i*step) / 100
		steps[i].slack = math.Hypot(steps[i].slack, c.ratioError(metric, i*step))
		all = append(all, analyze.Level{Speedup: i * step, Gain: interval(steps[i], doubts{
			sampling: rise * float64(i) * u.shareError(), deviation: m.deviation, most: part * u.most() / 100, size: part,
			waking: on.Waking(), taken: on.Taken(),
		})})
	}
	return all
}
