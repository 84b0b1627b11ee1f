package analyze

import (
	"math"
	"slices"
)

// Shape names how the gain depends on the speed-up. The empty one: the data do not
// say.
type Shape string

const (
	// Linear: the unit limits the program all the way. A bend, wherever it is, would
	// surely take less than a quarter off the gain at the largest speed-up.
	Linear Shape = "linear"
	// Plateau: the gain rises up to ShapeAt and is flat from there on: what limits the
	// program then is something else.
	Plateau Shape = "plateau"
	// Peak: the gain rises up to ShapeAt and falls from there on.
	Peak Shape = "peak"
	// Downward: the faster the unit, the slower the program.
	Downward Shape = "downward"
)

const (
	// shapeAlpha is the chance that a straight line is taken for a bent one. It is
	// less than that of intervals, as a shape is told to each unit that has a verdict.
	shapeAlpha = 0.01
	// flatPart is how steep, compared with its rise, what is called flat may surely be at
	// most, and straightPart what a bend may surely take off the end of a line that is
	// called straight.
	flatPart, straightPart = 1. / 3, 0.25
)

// A bent is the line through the origin that changes its slope at a speed-up,
// fitted by generalised least squares: the test of whether there is a bend at all,
// and what the curve does after it.
type bent struct {
	l      matrix    // Cholesky factor of the gains' covariance
	df     float64   // of it
	x      []float64 // speed-ups
	last   float64   // of them
	xw, yw []float64 // the same, and the gains, whitened
	xx, xy float64   // products of these
	d, u   []float64 // see fit
}

// shape names the shape of a unit's gains, once it has a verdict. The method's own
// error counts as noise of each level by itself: it alone makes no bend.
func (f *fit) shape(v Verdict, simulated bool) (Shape, int) {
	if v != Faster && v != Slower {
		return "", 0
	}
	n := len(f.levels)
	x, y := make([]float64, n), make([]float64, n)
	cov := f.gainCov()
	for l := range f.levels {
		x[l] = float64(f.levels[l].speedup) / 100
		y[l], _ = f.levels[l].gain()
		own := math.Sqrt(leastVariance)
		if !simulated {
			own = math.Hypot(own, methodError(x[l], y[l]))
		}
		cov.add(l, l, own*own)
	}
	return shape(x, y, cov, f.df, v)
}

// shape names the shape of a unit's gains, y at speed-ups x with covariance cov.
//
// Whether there is a bend: for each place where there could be one, the change of the
// slope there over its standard error is a T; the largest of them is held against the
// distribution of the largest if there is none anywhere (Davies, Biometrika 74, 1987,
// for the normal distribution; here the scale is estimated, so with Student's tube
// formula: Knowles and Siegmund, Int. Stat. Rev. 57, 1989). What follows is decided
// with the places that the data allow, not with the best alone: flat, or falling, it
// has to be for all of them.
func shape(x, y []float64, cov matrix, df float64, verdict Verdict) (Shape, int) {
	if b, ok := newBent(x, y, cov, df); ok {
		if s, at, found := b.bend(); found {
			return s, at
		}
		if verdict == Faster {
			if b.straight() {
				return Linear, 0
			}
			return "", 0
		}
	}
	if verdict == Slower {
		return Downward, 0
	}
	return "", 0
}

func newBent(x, y []float64, cov matrix, df float64) (*bent, bool) {
	n := len(x)
	if n < 2 {
		return nil, false
	}
	b := &bent{l: matrix{n, slices.Clone(cov.a)}, df: df, x: x, last: x[n-1],
		xw: slices.Clone(x), yw: slices.Clone(y), d: make([]float64, n), u: make([]float64, n)}
	if _, ok := b.l.cholesky(); !ok {
		return nil, false
	}
	b.l.forward(b.xw)
	b.l.forward(b.yw)
	b.xx, b.xy = dot(b.xw, b.xw), dot(b.xw, b.yw)
	return b, b.xx > 0
}

// A corner is a fit with a bend at one place.
type corner struct {
	at            float64
	t             float64 // of the slope's change: estimate over standard error
	change, sd    float64
	rise, riseSD  float64 // the slope before
	after, flatSD float64 // the slope behind
}

// fit fits a bend at a place, and leaves the direction that tells of it, with length
// one, in b.u; ok is false where the levels cannot tell.
func (b *bent) fit(at float64) (c corner, ok bool) {
	for i, s := range b.x {
		b.d[i] = math.Max(0, s-at)
	}
	b.l.forward(b.d)
	dd, xd := dot(b.d, b.d), dot(b.xw, b.d)
	left := dd - xd*xd/b.xx
	if dd == 0 || left < 1e-9*dd {
		return c, false
	}
	length := math.Sqrt(left)
	for i := range b.u {
		b.u[i] = (b.d[i] - xd/b.xx*b.xw[i]) / length
	}
	c.at, c.t = at, dot(b.u, b.yw)
	c.change, c.sd = c.t/length, 1/length
	c.rise = (b.xy - xd*c.change) / b.xx
	c.after = c.rise + c.change
	c.riseSD = math.Sqrt(dd / (b.xx * left))
	c.flatSD = math.Sqrt(math.Max(0, dd+b.xx-2*xd) / (b.xx * left))
	return c, true
}

// flat says that the curve hardly rises behind the bend: neither compared with the rise before, which a
// single experiment at a small speed-up may exaggerate, nor with all that is gained.
func (c corner) flat(last float64) bool {
	beyond := c.after * (last - c.at)
	return math.Abs(c.after) < flatPart*c.rise && math.Abs(beyond) < flatPart*(c.rise*c.at+beyond)
}

// places calls f with a fit for every place where a bend can be: from the first level
// (a bend before that looks like one at it) to the last, by whole percents.
func (b *bent) places(f func(c corner)) {
	for p := math.Round(100 * b.x[0]); p < 100*b.last-0.5; p++ {
		if c, ok := b.fit(p / 100); ok {
			f(c)
		}
	}
}

// bend says whether there is a bend, and names it if it has a name; found is true
// where there is one, named or not.
func (b *bent) bend() (s Shape, at int, found bool) {
	var best corner
	length := 0.0 // of the way that the direction u goes, on the unit sphere
	before := make([]float64, len(b.u))
	first := true
	b.places(func(c corner) {
		if !first {
			length += math.Acos(min(1, math.Abs(dot(before, b.u))))
		}
		copy(before, b.u)
		if first || math.Abs(c.t) > math.Abs(best.t) {
			best = c
		}
		first = false
	})
	if first || supTail(math.Abs(best.t), length, b.df) > shapeAlpha {
		return "", 0, false
	}
	if best.change > 0 {
		return "", 0, true // slow at first, and then more: that has no name
	}
	// The places that cannot be excluded.
	q := tQuantile(alpha, b.df)
	least := best.t*best.t - q*q
	rises, flat, falls := true, true, true
	b.places(func(c corner) {
		if c.t > 0 || c.t*c.t < least {
			return
		}
		rises = rises && c.rise > q*c.riseSD
		flat = flat && c.flat(b.last)
		falls = falls && c.after < -q*c.flatSD
	})
	surelyFlat := math.Abs(best.after)+q*best.flatSD < flatPart*best.rise
	at = int(math.Round(100 * best.at))
	switch {
	case rises && falls:
		return Peak, at, true
	case rises && flat && surelyFlat:
		return Plateau, at, true
	}
	return "", 0, true
}

// supTail bounds the probability that the largest |T| of a process on a curve of that
// length on the unit sphere exceeds t, with df degrees of freedom in its scale.
func supTail(t, length, df float64) float64 {
	return min(1, tTail(t, df)+length/math.Pi*math.Pow(1+t*t/df, -df/2))
}

// straight says whether any bend there may be is surely small.
func (b *bent) straight() bool {
	q := tQuantile(alpha, b.df)
	end := b.xy / b.xx * b.last
	any, within := false, end > 0
	b.places(func(c corner) {
		any = true
		if lost := (math.Abs(c.change) + q*c.sd) * (b.last - c.at); lost > straightPart*end {
			within = false
		}
	})
	return any && within
}
