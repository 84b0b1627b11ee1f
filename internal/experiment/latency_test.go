package experiment

import (
	"math"
	"testing"
	"time"

	"whatif/internal/profile"
)

// The integral of the number in the system, over the number that come, is how long each is in it. Here every 10 bins a
// request comes, and goes 25 bins later.
func TestInSystem(t *testing.T) {
	const bins, width = 1000, time.Millisecond
	begins, ends := make([]uint32, bins), make([]uint32, bins)
	for i := 0; i < bins; i += 10 {
		begins[i]++
		if i+25 < bins {
			ends[i+25]++
		}
	}
	// Two requests that began before.
	ends[5]++
	ends[15]++
	d := inSystem(begins, ends, width, bins*width, 0, 2)
	if d.InSystem != 2 || math.Abs(d.Begun-d.Ended) > 1 {
		t.Errorf("%+v", d)
	}
	if mean := d.AreaNS / d.Begun; math.Abs(mean/float64(25*width)-1) > 0.01 {
		t.Errorf("a mean latency of %v, want 25ms", time.Duration(mean))
	}
	// With half of the time virtual the window is half as long, and what is in it the same.
	half := inSystem(begins, ends, width, bins*width, bins*width/2, 2)
	if mean := half.AreaNS / half.Begun; math.Abs(mean/float64(25*width)-1) > 0.02 || half.Begun > 0.6*d.Begun {
		t.Errorf("in half of the time: %+v", half)
	}
	if none := inSystem(begins, ends, width, bins*width, 2*bins*width, 2); none.AreaNS != 0 || none.Begun != 0 {
		t.Errorf("in no time: %+v", none)
	}
}

func TestCarried(t *testing.T) {
	of := func(matched, before int64) []profile.Durations {
		return []profile.Durations{{}, {Matched: matched, Carried: before}}
	}
	var c carried
	for i, step := range []struct {
		all  []profile.Durations
		want bool
	}{
		{nil, false},
		{of(40, 1), false}, // too few to tell
		{of(40, 0), false},
		{of(400, 9), true}, // 10 of 480
		{of(400, 8), false},
		{of(100, 3), true},
		{of(1, 1), true}, // nothing is as short as an experiment
	} {
		if got := c.add(step.all); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
