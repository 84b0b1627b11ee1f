package analyze

import "math"

// matrix is a symmetric matrix, row by row.
type matrix struct {
	n int
	a []float64
}

func newMatrix(n int) matrix { return matrix{n, make([]float64, n*n)} }

func (m matrix) at(i, j int) float64     { return m.a[i*m.n+j] }
func (m matrix) add(i, j int, x float64) { m.a[i*m.n+j] += x }

func (m matrix) scale(by float64) {
	for i := range m.a {
		m.a[i] *= by
	}
}

// cholesky replaces m by its lower triangular factor and returns the logarithm
// of m's determinant; ok is false if m is not positive definite.
func (m matrix) cholesky() (logDet float64, ok bool) {
	for j := range m.n {
		rj := m.a[j*m.n : j*m.n+j]
		d := m.at(j, j)
		for _, x := range rj {
			d -= x * x
		}
		if !(d > 0) || math.IsInf(d, 1) {
			return 0, false
		}
		d = math.Sqrt(d)
		m.a[j*m.n+j] = d
		logDet += 2 * math.Log(d)
		for i := j + 1; i < m.n; i++ {
			x, ri := m.at(i, j), m.a[i*m.n:][:len(rj)]
			for k, y := range rj {
				x -= ri[k] * y
			}
			m.a[i*m.n+j] = x / d
		}
	}
	return logDet, true
}

// forward solves L·x = b in place for the factor L of cholesky. Then x·x is
// b's quadratic form with the inverse of the factored matrix.
func (m matrix) forward(b []float64) { m.forwardAll(b, 1) }

// forwardAll is forward for several columns, the rows of which follow each other in b. That is faster than one after
// the other, as no number waits for the one before it.
func (m matrix) forwardAll(b []float64, columns int) {
	for i := range m.n {
		row, x := m.a[i*m.n:][:i+1], b[i*columns:][:columns]
		for j, y := range row[:i] {
			for c, z := range b[j*columns:][:len(x)] {
				x[c] -= y * z
			}
		}
		for c := range x {
			x[c] /= row[i]
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += x * b[i]
	}
	return s
}
