package analyze

import "math"

const (
	// disagreeTail is how often runs that do not differ are said to, of all units together.
	disagreeTail = 0.01
	// disagreeDF is how well the noise has to be known to say it.
	disagreeDF = 20
)

// disagreement is how much more the runs that were merged scatter, in what they say of a unit, than the noise
// within each of them explains: what χ² has for each degree of freedom. Intervals are made wider by its root, as
// is usual where measurements disagree and nobody knows why, which is less than if the runs were a sample of others (Birge, Phys. Rev. 40, 1932; the Particle Data Group's
// scale factor). 1 where they do not surely disagree, or where there is one run. lambda is the unit's noise, among how many are looked at.
//
// Compared are the slopes of what is left when the curve is taken out, so that it does not matter which speed-ups a run
// happens to have tried.
func (f *fit) disagreement(lambda float64, among int) (ratio float64, runs int) {
	if f.ssDF < disagreeDF {
		return 1, 0
	}
	theta := make(map[int]float64, len(f.levels))
	for _, s := range f.levels {
		theta[s.speedup] = s.theta
	}
	type line struct {
		n                  int
		num, den, variance float64
	}
	by := make(map[int]*line)
	last := 0
	for i := range f.trials {
		tr := &f.trials[i]
		of := by[tr.run]
		if of == nil {
			of = &line{}
			by[tr.run] = of
			last = max(last, tr.run)
		}
		u := tr.weight * float64(tr.speedup) / 100
		of.n++
		of.num += u * (tr.time - theta[tr.speedup]*tr.expected) / tr.exposure
		of.den += u * float64(tr.speedup) / 100
		of.variance += u * u * lambda * tr.variance
	}
	var weights, sum, squares float64
	for r := range last + 1 { // in order, for sums to be the same each time
		of := by[r]
		if of == nil || of.n < leastTrials || of.variance <= 0 {
			continue
		}
		slope, w := of.num/of.den, of.den*of.den/of.variance
		runs++
		weights += w
		sum += w * slope
		squares += w * slope * slope
	}
	if runs < 2 {
		return 1, runs
	}
	df := float64(runs - 1)
	if chi := squares - sum*sum/weights; chi > chiQuantile(1-disagreeTail/float64(max(1, among)), df) {
		return chi / df, runs
	}
	return 1, runs
}

// chiQuantile is a quantile of χ² (Wilson and Hilferty, Proc. Nat. Acad. Sci. 17, 1931): to 1% with one degree of freedom and
// better with more, far out in the tail.
func chiQuantile(p, df float64) float64 {
	z := normalQuantile(2 * (1 - p))
	return df * math.Pow(1-2/(9*df)+z*math.Sqrt(2/(9*df)), 3)
}
