package analyze

import "math"

// Experiments about another machine are made here on a standing speed-up of whole classes of time, in baselines, too
// (profile.Standing). Their gains are gains there as they are. Times are virtual; on the other machine everything takes
// longer by one factor, which is the scale.

// A Move is what another machine itself does to the time per visit of a point: a slower one has a gain below 0.
type Move struct {
	Point string
	Gain  Estimate
}

// MovesTo compares the baselines of experiments about another machine with those about this one. Points that are not
// known on both are left out.
func (r *Result) MovesTo(there *Result, scale float64) (all []Move) {
	if r.Baselines < fewBaselines || there.Baselines < fewBaselines {
		return nil
	}
	for _, here := range r.Points {
		for _, on := range there.Points {
			if on.Name != here.Name || on.Kind != here.Kind || !(here.Rate > 0) || !(on.Rate > 0) {
				continue
			}
			virtual := here.Rate / on.Rate // the period there over that here
			noise := math.Hypot(here.Noise/math.Sqrt(float64(r.Baselines)), on.Noise/math.Sqrt(float64(there.Baselines)))
			half := 1.96 * math.Hypot(100*methodError(1, 1-virtual), virtual*noise)
			gain := Estimate{Value: 100 * (1 - scale*virtual), Known: true, Bounded: true}
			gain.Low, gain.High = gain.Value-scale*half, gain.Value+scale*half
			all = append(all, Move{here.Name, gain})
		}
	}
	return all
}

// Stretch turns the times of experiments about another machine into times there.
func (r *Result) Stretch(scale float64) {
	for k := range r.Points {
		r.Points[k].Rate /= scale
	}
	for i := range r.Latencies {
		l := &r.Latencies[i]
		l.Mean *= scale
		for q := range l.Quantiles {
			l.Quantiles[q] *= scale
		}
	}
}
