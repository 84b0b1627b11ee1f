package analyze

import "math"

// measureNoise collects the squares from which λ is estimated. There are two kinds. One is of each
// trial about its level. With many speed-ups, however, most levels have one trial only. So the
// other is of each level about the straight line between its neighbours (and the origin). These
// count for half a degree of freedom, because each level occurs in three of them. A bend inflates
// them, which errs to the safe side.
func (f *fit) measureNoise(levels []level) {
	for l, lv := range levels {
		s := &f.levels[l]
		if s.n < 2 {
			continue
		}
		surplus := 0.0 // of the trials themselves: the level's may have been filled up, see phasing.divide
		for i := range lv.trials {
			surplus += lv.trials[i].time - s.theta*lv.trials[i].expected
		}
		mean := surplus / s.x
		for i := range lv.trials {
			tr := &lv.trials[i]
			r := (tr.time-s.theta*tr.expected)/tr.exposure - mean
			s.ss += r * r / tr.variance
		}
		f.ss += s.ss
		f.ssDF += float64(s.n - 1)
	}
	// The trials are enough; the squares about lines are worth less.
	if f.ssDF >= 2*float64(len(levels)) {
		f.discountClipped()
		return
	}
	gain := func(l int) (speedup, y, v float64) {
		if l < 0 {
			return 0, 0, 0
		}
		s := &f.levels[l]
		y, v = s.gain()
		return float64(s.speedup), y, v
	}
	for l := 0; l+1 < len(f.levels); l++ {
		a, ya, va := gain(l - 1)
		b, yb, vb := gain(l)
		c, yc, vc := gain(l + 1)
		w := (b - a) / (c - a)
		r := yb - (1-w)*ya - w*yc
		f.ss += 0.5 * r * r / (vb + (1-w)*(1-w)*va + w*w*vc)
		f.ssDF += 0.5
	}
	f.discountClipped()
}

// discountClipped takes clipped trials out of the degrees of freedom, and makes up for the squares
// that they lack (Tukey and McLaughlin).
func (f *fit) discountClipped() {
	if kept := f.ssDF - float64(f.clipped); kept >= 1 && f.clipped > 0 {
		f.ss *= f.ssDF / kept
		f.ssDF = kept
	}
}

// priorDF is how many degrees of freedom the noise of the rest of the run counts for when a unit's
// own noise is estimated. The idea is that of moderated t statistics (Smyth, Stat. Appl. Genet.
// Mol. Biol. 3, 2004): many units with few experiments each show together how noisy the machine is.
// By simulation, a smaller value makes the intervals of units with three experiments uselessly
// wide, and a larger one makes those of units noisier than the rest too short.
const priorDF = 4

// pooledNoise is the λ that the fits have in common.
func pooledNoise(fits []*fit) float64 {
	ss, df := priorDF*1.0, float64(priorDF) // the prediction itself counts as a prior
	for _, f := range fits {
		if f.ssDF == 0 {
			continue
		}
		w := min(f.ssDF, 20) // no unit decides alone
		ss += w * f.ss / f.ssDF
		df += w
	}
	// A λ below the baselines' own noise would be luck.
	return math.Max(0.5, ss/df)
}

// levelDF is how many degrees of freedom a unit's noise counts for when that of one of its levels
// is estimated. Levels may well differ in noise: where a curve is flat, more delay or less makes no
// difference.
const levelDF = 6

// finish adds the noise and sets the slope. trackDF is the degrees of freedom of the baselines'
// noise, among the number of units that were tried.
func (f *fit) finish(pooled, trackDF float64, among int) {
	if f.total == 0 {
		return
	}
	unit := (priorDF*pooled + f.ss) / (priorDF + f.ssDF)
	f.df = f.ssDF + min(priorDF, trackDF)
	var den float64
	for l := range f.levels {
		s := &f.levels[l]
		lambda := unit
		if s.n > 1 {
			lambda = (levelDF*unit + s.ss) / (levelDF + float64(s.n-1))
		}
		f.cov.add(l, l, lambda*s.predicted)
		y, _ := s.gain()
		u := float64(s.speedup) / 100
		f.slope += s.weight * u * y
		den += s.weight * u * u
	}
	f.slope /= den
	f.disagree, f.runs = f.disagreement(unit, pooled, among)
	f.cov.scale(f.disagree)
	variance := 0.0
	for a := range f.levels {
		for b := range f.levels {
			variance += f.slopeWeight(a) * f.slopeWeight(b) * f.cov.at(a, b)
		}
	}
	f.slopeSD = math.Sqrt(math.Max(0, variance)) / den
}

// slopeWeight is by how much a surplus of one at a level changes the numerator of the slope.
func (f *fit) slopeWeight(l int) float64 {
	s := &f.levels[l]
	return s.weight * float64(s.speedup) / 100 / s.scale()
}
