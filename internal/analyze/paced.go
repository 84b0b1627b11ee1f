package analyze

import "math"

// leastPacePlacebos is how many placebos it takes to see that a point is paced. With two, the noise
// is that of all units' experiments, which suffices for so large an effect. With one it may be
// chance.
const leastPacePlacebos = 2

// A paced point seems to gain what a placebo delays. It must certainly gain pacedLeast of that, and
// not more than pacedMost: a point that gains more than was delayed has become faster, which is
// something else. In real time it may lose pacedLoss of it, because now and then a timer's thread
// starts late on a core that is stopped.
const pacedLeast, pacedMost, pacedLoss = 0.8, 1.1, 0.1

// paced gives point k's track and fits in real time if the point is paced: placebos do not slow it
// down, because its visits come from a clock that is not delayed, or from requests from outside. In
// less virtual time there are as many visits, whatever the code is worth.
//
// The runs are of one program and get one answer. The evidence is pooled over the runs that have
// placebos, in proportion to what they delayed. These runs must hold pacedRuns of the experiments'
// time. So a short run without placebos does not change the answer for long runs, and the placebos
// of a short run decide nothing for long runs without any.
//
// The point has to seem to gain what the placebos delay. In real time it must not certainly lose or
// gain more than allowed, about the margin, because what is lost there is lost by all units. One
// visit of twenty, more or less, at the edge of one of two placebos is chance.
func (in *input) paced(
	k, placebo int, p placeboEffect, phases []phasing, margin float64,
) (clock *track, clocked []*fit, allowed float64) {
	seems := p.fit.total >= leastPacePlacebos && p.gain-p.half > pacedLeast*p.kept && p.gain < pacedMost*p.kept
	if !seems || in.triedPart(k, p.fit) < pacedRuns {
		return nil, nil, 0
	}
	see := in.inRealTime(k)
	clock, clocked = in.fitPoint(see, see, phases)
	allowed = max(margin, pacedLoss*p.kept)
	if left := in.placeboEffect(placebo, see, clock, clocked, phases); !(math.Abs(left.gain)-left.half <= allowed) {
		return nil, nil, 0 // also if it is NaN
	}
	return clock, clocked, allowed
}

// pacedRuns is the part of the experiments' time, including baselines, that the runs with placebos
// must hold: most of it.
const pacedRuns = 0.5

// triedPart is the part of the time in which point k was measured that belongs to runs in which the
// unit of f was tried.
func (in *input) triedPart(k int, f *fit) float64 {
	tried := make(map[int]bool)
	for i := range f.trials {
		tried[f.trials[i].run] = true
	}
	see := in.visits(k)
	var part, all float64
	for r, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if _, ok := see(r, e); !ok || !usable(e) {
				continue
			}
			all += float64(e.RealNS)
			if tried[r] {
				part += float64(e.RealNS)
			}
		}
	}
	return part / all
}
