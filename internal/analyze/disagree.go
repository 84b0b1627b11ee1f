package analyze

import (
	"math"

	"whatif/internal/analyze/student"
)

const (
	// disagreeTail is the probability, for all units together, of saying that runs disagree when
	// they do not.
	disagreeTail = 0.01
	// disagreeDF is how many degrees of freedom the noise within runs must have.
	disagreeDF = 4
)

// disagreement is how much more the merged runs scatter, in their slopes for a unit, than the noise
// within each of them explains: χ² per degree of freedom. Intervals are widened by its square root,
// as is usual where measurements disagree for unknown reasons (Birge, Phys. Rev. 40, 1932; the
// Particle Data Group's scale factor). This widens less than treating the runs as a sample of other
// runs would. The ratio is 1 if the runs do not certainly disagree, or if there is one run. lambda
// is the unit's noise, pooled that of all units, among the number of units.
//
// The slopes are those of the residuals from the curve, so it does not matter which speed-ups a run
// tried. They are compared with the noise within runs: as in an analysis of variance, the
// differences between runs are subtracted from the squares. If that noise has few degrees of
// freedom, the limit is raised by the ratio of Student's quantile to the normal one, which is exact
// for two runs.
func (f *fit) disagreement(lambda, pooled float64, among int) (ratio float64, runs int) {
	theta := make(map[int]float64, len(f.levels))
	for _, s := range f.levels {
		theta[s.speedup] = s.theta
	}
	type line struct {
		n                  int
		num, den, variance float64
		u, counted         float64 // Σ u of trials with common baselines; their noise that is in variance
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
		of.n++
		divisor := tr.exposure
		if tr.linear {
			divisor = tr.expected
		}
		if divisor == 0 { // without samples it has no weight either
			continue
		}
		u := tr.weight * float64(tr.speedup) / 100
		x := u * tr.exposure / divisor
		of.num += u * (tr.time - theta[tr.speedup]*tr.expected) / divisor
		of.den += u * float64(tr.speedup) / 100
		of.variance += x * x * tr.variance
		if !tr.paired {
			x *= tr.sensitivity(tr.fitted)
			of.u += x
			of.counted += x * x * tr.squares * f.track.variance
		}
	}
	var weights, sum, squares float64
	for r := range last + 1 { // in order, so that sums are the same each time
		of := by[r]
		if of == nil || of.n < leastTrials || of.variance <= 0 {
			continue
		}
		// The experiments of a run use its baselines together, so they share the baselines' noise.
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
	few := student.Quantile(tail, priorDF+within) / student.Normal(tail)
	if between/noise > few*few*chiQuantile(1-tail, df) {
		return math.Max(1, between/lambda/df), runs
	}
	return 1, runs
}

// chiQuantile is a quantile of χ² (Wilson and Hilferty, Proc. Nat. Acad. Sci. 17, 1931). Far out in
// the tail its error is 1% with one degree of freedom, and less with more.
func chiQuantile(p, df float64) float64 {
	z := student.Normal(2 * (1 - p))
	return df * math.Pow(1-2/(9*df)+z*math.Sqrt(2/(9*df)), 3)
}
