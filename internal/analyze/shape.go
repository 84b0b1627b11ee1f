package analyze

import (
	"math"
	"slices"

	"whatif/internal/analyze/student"
)

// Shape names how the gain depends on the speed-up; "" if the data do not say. Its values are those
// of JSON reports.
type Shape string

const (
	// Linear means that the unit limits the program all the way: any bend would certainly take less
	// than a quarter off the gain at the largest speed-up.
	Linear Shape = "linear"
	// Plateau means that the gain rises up to ShapeAt and is flat beyond, where something else
	// limits the program.
	Plateau Shape = "plateau"
	// Peak means that the gain rises up to ShapeAt and falls beyond.
	Peak Shape = "peak"
	// Downward means that the program becomes slower, the faster the unit is.
	Downward Shape = "downward"
)

const (
	// shapeAlpha is the probability of taking a straight line for a bent one. It is smaller than
	// that of intervals, because each unit with a verdict is told its shape.
	shapeAlpha = 0.01
	// flatPart is the slope, as a part of the rise before, that the certain part of a flat stretch
	// may have at most. straightPart is the part of the final gain that a bend may take off a line
	// that is called straight.
	flatPart, straightPart = 1. / 3, 0.25
)

// A bent is a line through the origin that changes its slope at one speed-up, fitted by generalised
// least squares. It tests whether there is a bend at all, and what the curve does after it.
type bent struct {
	l      matrix    // Cholesky factor of the gains' covariance
	df     float64   // degrees of freedom of the covariance
	x      []float64 // speed-ups
	last   float64   // the largest of x
	xw, yw []float64 // x and the gains, whitened by l
	xx, xy float64   // products xw·xw and xw·yw
	d, u   []float64 // working memory, see fit
}

// shape names the shape of a unit's gains, once it has a verdict. The method error counts as
// independent noise of each level, so it alone makes no bend.
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
// The test for a bend: at each place where there could be one, the change of the slope over its
// standard error is a T. The largest T is compared with the distribution that the largest has if
// there is no bend (Davies, Biometrika 74, 1987, for the normal distribution; here the scale is
// estimated, so with Student's tube formula: Knowles and Siegmund, Int. Stat. Rev. 57, 1989). The
// shape after the bend is decided with all places that the data allow, not with the best alone: it
// has to be flat, or falling, for all of them.
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
	t             float64 // change of the slope over its standard error
	change, sd    float64
	rise, riseSD  float64 // the slope before the bend
	after, flatSD float64 // the slope after the bend
}

// fit fits a bend at one place. It leaves in b.u the unit vector along which the data show the
// bend. ok is false if the levels cannot show it.
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

// flat says that the curve hardly rises after the bend, compared with the rise before and with all
// that is gained. The first comparison alone does not suffice: a single experiment at a small
// speed-up may exaggerate that rise.
func (c corner) flat(last float64) bool {
	beyond := c.after * (last - c.at)
	return math.Abs(c.after) < flatPart*c.rise && math.Abs(beyond) < flatPart*(c.rise*c.at+beyond)
}

// places calls f with a fit for each whole percent at which a bend can be: from the first level (an
// earlier bend looks like one at it) to the last.
func (b *bent) places(f func(c corner)) {
	for p := math.Round(100 * b.x[0]); p < 100*b.last-0.5; p++ {
		if c, ok := b.fit(p / 100); ok {
			f(c)
		}
	}
}

// bend says whether there is a bend (found), and names the shape, if it has a name.
func (b *bent) bend() (s Shape, at int, found bool) {
	var best corner
	length := 0.0 // length of the path of u on the unit sphere
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
		return "", 0, true // the slope becomes steeper: that shape has no name
	}
	// The shape must hold at all places that the data do not exclude.
	q := student.Quantile(Alpha, b.df)
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
	certainlyFlat := math.Abs(best.after)+q*best.flatSD < flatPart*best.rise
	at = int(math.Round(100 * best.at))
	switch {
	case rises && falls:
		return Peak, at, true
	case rises && flat && certainlyFlat:
		return Plateau, at, true
	}
	return "", 0, true
}

// supTail bounds the probability that the largest |T| of a process exceeds t. The process runs
// along a curve of the given length on the unit sphere, and its scale has df degrees of freedom.
func supTail(t, length, df float64) float64 {
	return min(1, student.Tail(t, df)+length/math.Pi*math.Pow(1+t*t/df, -df/2))
}

// straight says whether any bend there may be is certainly small.
func (b *bent) straight() bool {
	q := student.Quantile(Alpha, b.df)
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
