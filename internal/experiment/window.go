package experiment

import (
	"math"
	"time"

	"whatif/internal/profile"
)

// settle is the part of an experiment, at its start, that is not counted: queues and debts adapt to the new speed. fade
// is the part of the rest over which the window opens, and over which it closes again.
const (
	settle = 0.15
	fade   = 0.20
)

// weigh counts visits, binned by virtual time, through a window that fades in and out. With hard edges, n visits of a
// regular program in an experiment would be read as n or n+1, an error of 1/n. Fading edges make it far smaller, and
// the rate stays unbiased, as every moment of a stationary program has the same weight. The window ends where virtual
// time does, at real - delay: visits of a thread that is ahead of it belong to later.
func weigh(bins []uint32, width, real, delay time.Duration) profile.Visits {
	var v profile.Visits
	for _, n := range bins {
		v.Count += int64(n)
	}
	window(len(bins), width, real, delay, func(i int, weight float64) {
		v.WindowNS += weight * float64(width)
		v.Weight += weight * float64(bins[i])
	})
	return v
}

// window gives f the weight of each bin in the window, in their order. Bins outside have the weight 0.
func window(bins int, width, real, delay time.Duration, f func(i int, weight float64)) {
	end := float64(real - delay)
	start := end * settle
	edge := (end - start) * fade
	if edge <= 0 {
		return
	}
	for i := range bins {
		at := (float64(i) + 0.5) * float64(width)
		f(i, math.Max(0, math.Min(1, math.Min(at-start, end-at)/edge)))
	}
}
