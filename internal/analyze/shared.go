package analyze

// share sets the covariance that comes from baselines used by several trials.
func (f *fit) share(t *track, levels []level) {
	n := len(f.levels)
	f.cov = newMatrix(n)
	if 8*f.total < t.k {
		f.shareAll(levels)
	} else {
		f.shareEach(t, levels)
	}
	for i := range f.cov.a {
		f.cov.a[i] *= t.variance
	}
}

// shareAll treats all trials as sharing all of their baselines. It is for trials that are few
// compared with the baselines: the covariance is then small beside the trials' own variance, and
// this is its upper bound.
func (f *fit) shareAll(levels []level) {
	parts := make([]float64, len(levels))
	squares := 0.0
	for l, lv := range levels {
		for i := range lv.trials {
			tr := &lv.trials[i]
			if tr.paired {
				continue
			}
			part := tr.sensitivity(f.levels[l].theta) * tr.exposure
			parts[l] += part
			squares = max(squares, tr.squares)
			f.cov.add(l, l, -part*part*tr.squares)
		}
	}
	f.addProducts(parts, squares)
}

// shareEach computes the exact covariance, baseline by baseline.
func (f *fit) shareEach(t *track, levels []level) {
	n := len(f.levels)
	// One row of n for each used baseline: its part in each level's expectation, in ns.
	rows := t.scratch.start(t)
	parts := t.scratch.parts[:0]
	buf := t.scratch.shares
	for l, lv := range levels {
		for i := range lv.trials {
			tr := &lv.trials[i]
			if tr.paired { // the baselines cancel, see phase.go
				continue
			}
			weight := tr.sensitivity(f.levels[l].theta) * tr.exposure
			buf, _ = t.segments[tr.run].shares(tr.pos, -1, t.k, buf[:0])
			for _, sh := range buf {
				row := &rows[t.scratch.offset[tr.run]+sh.j]
				if row.epoch != t.scratch.epoch {
					*row = scratchRow{t.scratch.epoch, len(parts)}
					for range n {
						parts = append(parts, 0)
					}
				}
				part := weight * sh.part
				parts[row.at+l] += part
				f.cov.add(l, l, -part*part)
			}
		}
	}
	for at := 0; at < len(parts); at += n {
		f.addProducts(parts[at:at+n], 1)
	}
	t.scratch.parts, t.scratch.shares = parts, buf
}

// addProducts adds factor times the products of all parts to the covariance.
func (f *fit) addProducts(parts []float64, factor float64) {
	for a, x := range parts {
		if x == 0 {
			continue
		}
		row, x := f.cov.a[a*f.cov.n:][:len(parts)], factor*x
		for b, y := range parts {
			row[b] += x * y
		}
	}
}

// scratch is memory that shareEach reuses for every unit.
type scratch struct {
	epoch  int
	offset []int // where the baselines of each segment begin in rows
	rows   []scratchRow
	parts  []float64
	shares []share
}

// A scratchRow is where a baseline's parts start, if epoch is the current one.
type scratchRow struct{ epoch, at int }

func (s *scratch) start(t *track) []scratchRow {
	if s.rows == nil {
		n := 0
		for _, seg := range t.segments {
			s.offset = append(s.offset, n)
			n += len(seg.base)
		}
		s.rows = make([]scratchRow, n)
		s.shares = make([]share, 0, 2*t.k)
	}
	s.epoch++
	return s.rows
}
