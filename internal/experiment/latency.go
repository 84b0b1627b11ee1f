package experiment

import (
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// durations turns what was read of the latencies into the experiment's record. measured are these latencies, in the
// same order.
func durations(r ledger.Reading, measured []profile.Latency) []profile.Durations {
	var all []profile.Durations
	for i, span := range r.Spans {
		begins, ends := r.Points[measured[i].Begin], r.Points[measured[i].End]
		d := inSystem(begins.Bins, ends.Bins, begins.Width, r.Real, r.Delay, span.InSystem)
		// Where visits were not seen happening, bins have the times when they were found.
		const few = 0.01
		if visits := count(begins.Bins) + count(ends.Bins); float64(span.Late) > few*float64(visits) {
			d.AreaNS = sampledArea(span.Samples, begins.Width, r.Real, r.Delay, span.InSystem, span.Early)
		}
		d.TotalNS, d.Unmatched, d.Again = int64(span.Total), span.Unmatched, span.Again
		d.Carried, d.Late = span.Carried, span.Late
		// The number is taken from the bins alone, as another core may still be counting a visit from before the end.
		for bin, n := range span.Bins {
			if n > 0 {
				d.Bins = append(d.Bins, [2]int64{int64(bin), int64(n)})
				d.Matched += int64(n)
			}
		}
		all = append(all, d)
	}
	return all
}

func count(bins []uint32) (sum int64) {
	for _, n := range bins {
		sum += int64(n)
	}
	return sum
}

// inSystem integrates how many requests were in the system, through the same window as weigh. By Little's law that
// time, over the number that came, is the mean latency. What begins and ends within a bin is taken to be spread evenly
// over it.
func inSystem(begins, ends []uint32, width, real, delay time.Duration, atStart int64) profile.Durations {
	d := profile.Durations{InSystem: atStart}
	n := float64(atStart)
	window(len(begins), width, real, delay, func(i int, weight float64) {
		came, went := float64(begins[i]), float64(ends[i])
		d.AreaNS += weight * (n + (came-went)/2) * float64(width)
		d.Begun += weight * came
		d.Ended += weight * went
		n += came - went
	})
	return d
}

// sampledArea is the same integral from samples of the number in the system, each of which stands until the next. They
// are taken at moments that do not depend on the program.
func sampledArea(samples []uint32, width, real, delay time.Duration, atStart, early int64) (area float64) {
	n := float64(atStart)
	window(len(samples), width, real, delay, func(i int, weight float64) {
		if samples[i] != 0 {
			n = float64(int64(int32(samples[i])>>1) + early)
		}
		area += weight * n * float64(width)
	})
	return area
}
