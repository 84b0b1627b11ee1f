package profile

import (
	"fmt"
	"math"
)

// Durations is what an experiment recorded of a latency, in virtual time.
type Durations struct {
	// InSystem is how many requests had begun and not ended at the start of the experiment. Begun
	// and Ended are the weighted numbers of begins and ends in the window (see Visits), and AreaNS
	// is the integral over time of the number of requests in between.
	InSystem int64   `json:"in_system"`
	Begun    float64 `json:"begun"`
	Ended    float64 `json:"ended"`
	AreaNS   float64 `json:"area_ns"`
	// Matched is how many requests with a known begin ended after the first 15% of the experiment.
	// TotalNS is the sum of their durations, and Bins their distribution: pairs of a bin and the
	// number of requests in it, bins ascending (see BinStart).
	Matched int64      `json:"matched"`
	TotalNS int64      `json:"total_ns"`
	Bins    [][2]int64 `json:"bins,omitempty"`
	// Unmatched is ends without a begin. Again is begins while one was open already, which is
	// forgotten. Carried is those of Matched that began before the experiment.
	Unmatched int64 `json:"unmatched,omitempty"`
	Again     int64 `json:"again,omitempty"`
	Carried   int64 `json:"carried,omitempty"`
	// Late is begins and ends, after the first 15% of the experiment, that were only counted. Their
	// times are not known, so AreaNS is taken from the number of requests in between at ticks.
	Late int64 `json:"late,omitempty"`
}

// The bins of durations. A bin is 1/16 of a factor of two wide, so none is wider than 1/16 of its
// start. Below 16 ns each nanosecond has a bin.
const (
	binOctave = 16
	// MaxBins is more than the number of bins: the last one begins after an hour.
	MaxBins = 640
)

// BinStart is the shortest duration in a bin, in nanoseconds. The bin ends where the next one
// starts.
func BinStart(bin int) float64 {
	if bin < binOctave {
		return float64(bin)
	}
	return math.Ldexp(float64(binOctave+bin%binOctave), bin/binOctave-1)
}

// check returns an error if the figures are impossible.
func (d *Durations) check() error {
	for _, x := range []float64{d.Begun, d.Ended, math.Abs(d.AreaNS)} {
		if !within(x) {
			return fmt.Errorf("impossible durations: begun %v, ended %v, area %v", d.Begun, d.Ended, d.AreaNS)
		}
	}
	if d.Matched < 0 || d.TotalNS < 0 || d.Unmatched < 0 || d.Again < 0 || d.Carried < 0 || d.Late < 0 {
		return fmt.Errorf("impossible durations: a number below 0")
	}
	last := int64(-1)
	for _, b := range d.Bins {
		if b[0] <= last || b[0] >= MaxBins || b[1] <= 0 || b[1] > math.MaxUint32 {
			return fmt.Errorf("impossible durations: %d in bin %d", b[1], b[0])
		}
		last = b[0]
	}
	return nil
}
