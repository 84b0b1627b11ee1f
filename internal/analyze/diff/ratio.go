package diff

import (
	"math"

	"whatif/internal/analyze"
	"whatif/internal/analyze/student"
)

// A part is what one baseline adds to a ratio of sums, such as time over visits.
type part struct{ num, den float64 }

// A sumRatio is such a ratio. It is estimated as a logarithm, because factors are compared. The ratio of
// a run is that of its sums. Its variance comes from blocks of successive baselines, so it includes
// drift within the run (batch means: Law, Simulation Modeling and Analysis, 9.5). What the machine does
// from one run to the next shows only if there are several runs.
type sumRatio struct {
	runs   []float64 // logarithms of the runs' ratios
	within float64   // variance of their mean, by the scatter within runs
	df     float64   // degrees of freedom of within; 0: within is not known
}

const (
	ratioBlocks = 10 // at most
	leastBlocks = 3  // fewer do not show the scatter
)

func newSumRatio(runs [][]part) (l sumRatio, ok bool) {
	var squares float64 // Σ v²/df, for Satterthwaite's rule
	known := true
	for _, parts := range runs {
		var num, den float64
		for _, p := range parts {
			num += p.num
			den += p.den
		}
		if !(num > 0) || !(den > 0) || math.IsInf(num/den, 0) || num/den == 0 {
			continue
		}
		l.runs = append(l.runs, math.Log(num/den))
		v, df := blockVariance(parts, num, den)
		if df == 0 {
			known = false
			continue
		}
		l.within += v
		squares += v * v / df
	}
	n := float64(len(l.runs))
	if n == 0 {
		return l, false
	}
	if known && l.within > 0 {
		l.df = l.within * l.within / squares
	}
	l.within /= n * n
	return l, true
}

// blockVariance is the relative variance of a ratio of sums, and its degrees of freedom; 0 if there are
// too few parts.
func blockVariance(parts []part, num, den float64) (v, df float64) {
	blocks := min(ratioBlocks, len(parts)/2)
	if blocks < leastBlocks {
		return 0, 0
	}
	for b := range blocks {
		surplus := 0.0
		for _, p := range parts[b*len(parts)/blocks : (b+1)*len(parts)/blocks] {
			surplus += p.num - num/den*p.den
		}
		v += surplus * surplus / (num * num)
	}
	df = float64(blocks - 1)
	return v * float64(blocks) / df, df
}

func (l sumRatio) mean() float64 {
	sum := 0.0
	for _, x := range l.runs {
		sum += x
	}
	return sum / float64(len(l.runs))
}

// A factor is the change of a ratio, as a logarithm.
type factor struct {
	value, sd, df float64 // df 0: its certainty is not known
	between       bool    // sd includes the differences from run to run
}

// changeOf compares ratios. If a side has several runs, their scatter counts for both sides alike, and
// never for less than the scatter within runs.
func changeOf(old, new sumRatio) factor {
	f := factor{value: new.mean() - old.mean()}
	if old.df > 0 && new.df > 0 {
		within := old.within + new.within
		f.sd = math.Sqrt(within)
		f.df = within * within / (old.within*old.within/old.df + new.within*new.within/new.df)
	}
	var squares, df float64
	for _, side := range []sumRatio{old, new} {
		for _, x := range side.runs {
			squares += (x - side.mean()) * (x - side.mean())
		}
		df += float64(len(side.runs) - 1)
	}
	if df > 0 {
		f.between = true
		sd := math.Sqrt(squares / df * (1/float64(len(old.runs)) + 1/float64(len(new.runs))))
		f.sd, f.df = max(f.sd, sd), df
	}
	return f
}

// gain is the part, in percent, by which a ratio became smaller. Its interval misses with probability
// alpha.
func (f factor) gain(alpha float64) analyze.Estimate {
	e := analyze.Estimate{Value: -100 * math.Expm1(f.value)}
	e.Known = !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0)
	if e.Known && f.df > 0 && f.sd > 0 {
		h := f.sd * student.Quantile(alpha, f.df)
		e.Low, e.High = -100*math.Expm1(f.value+h), -100*math.Expm1(f.value-h)
		e.Bounded = !math.IsNaN(h) && !math.IsInf(e.Low, 0) && e.Low > -1e6
	}
	return e
}
