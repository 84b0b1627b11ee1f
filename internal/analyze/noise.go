package analyze

import "math"

// measureNoise collects the squares from which λ is estimated: of each trial
// about its level; and, since with many speed-ups most levels have one trial
// only, of each level about the straight line between its neighbours (and the
// origin). Those count for half a degree of freedom, because each level occurs in
// three of them; a bend inflates them, which errs to the safe side.
func (f *fit) measureNoise(levels []level) {
	for l, lv := range levels {
		s := &f.levels[l]
		if s.n < 2 {
			continue
		}
		mean := (s.time - s.theta*s.expected) / s.x
		for i := range lv.trials {
			tr := &lv.trials[i]
			r := (tr.time-s.theta*tr.expected)/tr.exposure - mean
			s.ss += r * r / tr.variance
		}
		f.ss += s.ss
		f.ssDF += float64(s.n - 1)
	}
	// Enough without the lines, which are worth less.
	if f.ssDF >= 2*float64(len(levels)) {
		f.keptDF()
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
	f.keptDF()
}

// keptDF takes trials that were drawn in out of the degrees of freedom, and
// makes up for the squares that they lack (Tukey and McLaughlin).
func (f *fit) keptDF() {
	if kept := f.ssDF - float64(f.clipped); kept >= 1 && f.clipped > 0 {
		f.ss *= f.ssDF / kept
		f.ssDF = kept
	}
}

// priorDF is how many degrees of freedom the noise that the rest of the run
// shows counts for when a unit's own is estimated. The idea is that of moderated
// t statistics (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004): many units with
// few experiments each tell each other how noisy the machine is. Simulated:
// fewer make intervals of units with three experiments uselessly wide, more make
// those of units noisier than the rest too short.
const priorDF = 4

// pooledNoise is the λ that the fits have in common.
func pooledNoise(fits []*fit) float64 {
	ss, df := priorDF*1.0, float64(priorDF) // the prediction itself
	for _, f := range fits {
		if f.ssDF == 0 {
			continue
		}
		w := min(f.ssDF, 20) // no unit alone decides
		ss += w * f.ss / f.ssDF
		df += w
	}
	// Less than the baselines' own noise would be luck.
	return math.Max(0.5, ss/df)
}

// levelDF is how many degrees of freedom a unit's noise counts for when that of
// one of its levels is estimated. The noise may well be another at another level:
// where a curve is flat, delays more or less make no difference.
const levelDF = 6

// finish adds the noise and sets the slope. trackDF is how well the baselines'
// noise is known.
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

// slopeWeight is by how much a surplus of one at a level changes the sum that is
// the slope's numerator.
func (f *fit) slopeWeight(l int) float64 {
	s := &f.levels[l]
	return s.weight * float64(s.speedup) / 100 / s.scale()
}
