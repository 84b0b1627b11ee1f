package profile

import (
	"fmt"
	"math"
)

// Durations is what an experiment tells of a latency, in virtual time.
type Durations struct {
	// InSystem is how many had begun and not ended at the start of the experiment.
	// Over the window (see Visits) Begun and Ended are the weighted numbers of those
	// that did, and AreaNS is the integral over time of how many were in between.
	InSystem int64   `json:"in_system"`
	Begun    float64 `json:"begun"`
	Ended    float64 `json:"ended"`
	AreaNS   float64 `json:"area_ns"`
	// Matched is how many ended, after the first 15% of the experiment, whose begin
	// is known; TotalNS is how long they took together, and Bins how long each:
	// pairs of a bin, ascending, and how many are in it (see BinStart).
	Matched int64      `json:"matched"`
	TotalNS int64      `json:"total_ns"`
	Bins    [][2]int64 `json:"bins,omitempty"`
	// Unmatched ends had no begin, Again is begins where one was open already (it is
	// forgotten), and Carried those of Matched that began before the experiment.
	Unmatched int64 `json:"unmatched,omitempty"`
	Again     int64 `json:"again,omitempty"`
	Carried   int64 `json:"carried,omitempty"`
	// Late is begins and ends, after the first 15% of the experiment, that were only
	// counted: when they happened is not known, so AreaNS is by how many were in between at ticks.
	Late int64 `json:"late,omitempty"`
}

// Durations are counted in bins that are 1/16 of a factor of two wide, so none is
// wider than 1/16 of its start; below 16 ns each nanosecond has one.
const (
	binOctave = 16
	// MaxBins is more bins than there are: the last one begins after an hour.
	MaxBins = 640
)

// BinStart is the shortest duration in a bin, in nanoseconds; the bin ends where the
// next one starts.
func BinStart(bin int) float64 {
	if bin < binOctave {
		return float64(bin)
	}
	return math.Ldexp(float64(binOctave+bin%binOctave), bin/binOctave-1)
}

// check says what is impossible.
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
