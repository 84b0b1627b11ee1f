package analyze

import (
	"math"
	"slices"
)

// Experiments and a recording see the same program, one with delays and one without. Where they disagree about what
// both can see, whatif's delays change what the program does, or the recording was made in another phase of it.
const (
	sharePoints  = 5   // by which two shares may differ, in points, beside their noise
	pacePercent  = 3   // by which two times per visit may differ, beside their noise
	crossSigmas  = 4   // of noise that a difference needs as well: there are many units
	fewSampled   = 100 // samples on each side, for a share to be worth comparing
	paceSigmas   = 2
	fewBaselines = 5
)

// crossCheck warns where the experiments' view of the program differs from the recording's. It is called before the
// recording fills in what experiments do not know.
func (r *Result) crossCheck(from *Estimates) {
	for i := range from.Units {
		u := &from.Units[i]
		t := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Unit.Key() == u.Unit.Key() })
		if t >= 0 {
			r.Targets[t].compareShare(u)
		}
	}
	if from.Within {
		return // the pace of the recording has costs that those of baselines do not have
	}
	for _, p := range from.Points {
		k := slices.IndexFunc(r.Points, func(q Point) bool { return q.Name == p.Name })
		if k >= 0 {
			r.comparePace(&r.Points[k], &p, from.Seconds)
		}
	}
}

// compareShare compares the share of a unit in experiments with that in the recording. The number of samples is taken
// to be binomial.
func (t *Target) compareShare(u *EstimatedUnit) {
	if t.Samples < fewSampled || u.Samples < fewSampled {
		return
	}
	p := (t.Share + u.Share) / 200
	noise := 100 * math.Sqrt(max(0, p*(1-p))*(perSample(t.Samples, t.Share)+perSample(u.Samples, u.Share)))
	if math.Abs(t.Share-u.Share) > sharePoints+crossSigmas*noise {
		t.Warnings.Add("shares-differ", "it has %.0f%% of the CPU time in experiments and %.0f%% in the recording, in which "+
			"nothing is delayed: delays change what the program does, so its gain may be off", t.Share, u.Share)
	}
}

// perSample is one over the number of all samples, of which some are a share in percent.
func perSample(samples int64, percent float64) float64 { return percent / 100 / float64(samples) }

// comparePace compares the time per visit in baselines, without their delays, with that in the recording.
func (r *Result) comparePace(p *Point, recorded *EstimatedPoint, seconds float64) {
	if r.Baselines < fewBaselines || p.Rate <= 0 || recorded.Rate <= 0 || p.Noise <= 0 || seconds <= 0 {
		return
	}
	baseline := float64(r.RealNS) / 1e9 / float64(r.Experiments+r.Baselines) // seconds
	noise := p.Noise * math.Sqrt(1/float64(r.Baselines)+baseline/seconds)
	if off := 100 * (recorded.Rate/p.Rate - 1); math.Abs(off) > pacePercent+paceSigmas*noise {
		w := Warnings{}
		w.Add("pace-differs", "point %s: a visit takes %.2f times as long in baselines as in the recording, in which "+
			"nothing is delayed: gains may be off. Record again, or measure longer", p.Name, recorded.Rate/p.Rate)
		p.Warnings = append(p.Warnings, w...)
		r.Warnings = append(r.Warnings, w...)
	}
}
