package analyze

import "math"

const (
	// disagreeTail is how often runs that do not differ are said to, of all units together.
	disagreeTail = 0.01
	// disagreeDF is how well the noise within runs has to be known to say it.
	disagreeDF = 4
)

// disagreement is how much more the runs that were merged scatter, in what they say of a unit, than the noise within
// each of them explains: what χ² has for each degree of freedom. Intervals are made wider by its root, as is usual
// where measurements disagree and nobody knows why, which is less than if the runs were a sample of others (Birge,
// Phys. Rev. 40, 1932; the Particle Data Group's scale factor). 1 where they do not surely disagree, or where there
// is one run. lambda is the unit's noise, pooled that of all units, among how many are looked at.
//
// Compared are the slopes of what is left when the curve is taken out, so that it does not matter which speed-ups a
// run happens to have tried. The noise that they are compared by is that within runs: what the runs differ by is
// taken out of the squares, as in an analysis of variance. Where few degrees of freedom tell it, the limit is as
// much higher as that of Student's t, which is right for two runs.
func (f *fit) disagreement(lambda, pooled float64, among int) (ratio float64, runs int) {
	theta := make(map[int]float64, len(f.levels))
	for _, s := range f.levels {
		theta[s.speedup] = s.theta
	}
	type line struct {
		n                  int
		num, den, variance float64
		u, counted         float64 // Σ u of what baselines are shared by, and what variance counts of their noise
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
		of.variance += u * u * tr.variance
		if !tr.paired {
			of.u += u * tr.fitted
			of.counted += u * u * tr.fitted * tr.fitted * tr.squares * f.track.variance
		}
	}
	var weights, sum, squares float64
	for r := range last + 1 { // in order, for sums to be the same each time
		of := by[r]
		if of == nil || of.n < leastTrials || of.variance <= 0 {
			continue
		}
		// A run's experiments share its baselines, whose noise they have in common then.
		shared := of.u * of.u * f.track.variance / float64(len(f.track.segments[r].base))
		slope, w := of.num/of.den, of.den*of.den/(of.variance+math.Max(0, shared-of.counted))
		runs++
		weights += w
		sum += w * slope
		squares += w * slope * slope
	}
	if runs < 2 {
		return 1, runs
	}
	df := float64(runs - 1)
	within := f.ssDF - df
	if within < disagreeDF {
		return 1, runs
	}
	between := squares - sum*sum/weights
	noise := (priorDF*pooled + math.Max(0, f.ss-between)) / (priorDF + within)
	tail := disagreeTail / float64(max(1, among))
	few := tQuantile(tail, priorDF+within) / normalQuantile(tail)
	if between/noise > few*few*chiQuantile(1-tail, df) {
		return math.Max(1, between/lambda/df), runs
	}
	return 1, runs
}

// chiQuantile is a quantile of χ² (Wilson and Hilferty, Proc. Nat. Acad. Sci. 17, 1931): to 1% with one degree of
// freedom and better with more, far out in the tail.
func chiQuantile(p, df float64) float64 {
	z := normalQuantile(2 * (1 - p))
	return df * math.Pow(1-2/(9*df)+z*math.Sqrt(2/(9*df)), 3)
}
