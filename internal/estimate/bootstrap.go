package estimate

import (
	"math"
	"math/rand/v2"
)

// The block bootstrap. A recording is one stretch of a program's life; another one would have given somewhat other
// gains. By how much is learned from its own pieces: blocks of neighbouring pieces are drawn with replacement until
// there are as many pieces as before, and each draw gives a gain (Künsch, Ann. Statist. 17, 1989; circular, after
// Politis and Romano, 1992). Blocks keep what neighbours have in common. A piece is drawn with both of its sides, the
// visits without the change and the same visits with it, so what both have in common does not widen the interval.
//
// Assumed is that the recording has seen all phases of the program. With k blocks the scatter of draws is too small by
// (k-1)/k, and itself known with k-1 degrees of freedom only; both are corrected. So is, as far as it shows, that the
// program's memory may be longer than a block (longMemory).
const (
	resamples = 200
	blockPart = 16 // a block is one part in so many of the recording
)

// draws are the resamples: how often each piece is in each of them. All units have the same ones.
type draws struct {
	pieces, length int
	weights        [][]float64
}

func newDraws(pieces int) *draws {
	d := &draws{pieces: pieces, length: max(1, pieces/blockPart)}
	random := rand.New(rand.NewPCG(uint64(pieces), 0)) // the same recording gives the same numbers
	for range resamples {
		w := make([]float64, pieces)
		for n := 0; n < pieces; {
			start := random.IntN(pieces)
			for i := 0; i < d.length && n < pieces; i++ {
				w[(start+i)%pieces]++
				n++
			}
		}
		d.weights = append(d.weights, w)
	}
	return d
}

// blocks is how many blocks the recording has.
func (d *draws) blocks() float64 { return float64(d.pieces) / float64(d.length) }

// values are a metric in each of the draws.
func (d *draws) values(s *sums, q float64) []float64 {
	all := make([]float64, len(d.weights))
	for i, w := range d.weights {
		all[i] = s.value(q, w)
	}
	return all
}

// compare gives the gain of a run over the one without a change, and its standard deviation.
func (d *draws) compare(m *metricBase, now *sums) measured {
	found := measured{gain: gainOf(now.value(m.quantile, nil), m.base.value(m.quantile, nil)), df: d.blocks() - 1}
	var sum, squares, n float64
	for i, value := range d.values(now, m.quantile) {
		g := gainOf(value, m.drawn[i])
		if math.IsNaN(g) || math.IsInf(g, 0) {
			continue
		}
		n++
		sum += g - found.gain
		squares += (g - found.gain) * (g - found.gain)
	}
	if n < 2 || !(found.df > 0) {
		found.sd = math.NaN()
		return found
	}
	variance := max(0, (squares-sum*sum/n)/(n-1))
	found.sd = math.Sqrt(variance*d.blocks()/found.df) * d.longMemory(m, now)
	return found
}

// longMemory is by how much blocks that are shorter than the program's memory make the standard deviation too small.
// The memory is that of an autoregressive process of order 1, with the correlation that neighbouring pieces have.
func (d *draws) longMemory(m *metricBase, now *sums) float64 {
	if m.quantile > 0 {
		return 1 // being above or below a percentile is remembered for less long
	}
	influence := influences(&m.base, now)
	if len(influence) != d.pieces {
		return 1
	}
	var products, squares float64
	for i, x := range influence {
		squares += x * x
		if i > 0 {
			products += x * influence[i-1]
		}
	}
	n := float64(d.pieces)
	if squares == 0 {
		return 1
	}
	r := products / squares
	r = min(mostMemory, r+(1+3*r)/n) // the estimate is biased (Kendall, Biometrika 41, 1954)
	if r <= 0 {
		return 1
	}
	length := float64(d.length)
	whole := (1 + r) / (1 - r) // variance of a long sum, and of a block, in terms of independent pieces
	block := whole - 2*r*(1-math.Pow(r, length))/(length*(1-r)*(1-r))
	return math.Sqrt(whole / block)
}

// mostMemory bounds the correlation of neighbours: beyond it, a recording is too short for any statement.
const mostMemory = 0.9

// influences are by how much each piece moves the gain of a ratio of sums.
func influences(base, now *sums) []float64 {
	if len(base.amount) != len(now.amount) {
		return nil
	}
	counted, countedNow := total(base.count), total(now.count)
	v, is := total(base.amount)/counted, total(now.amount)/countedNow
	all := make([]float64, len(base.amount))
	for p := range all {
		all[p] = is/(v*v)*(base.amount[p]-v*base.count[p])/counted - (now.amount[p]-is*now.count[p])/(countedNow*v)
		if math.IsNaN(all[p]) || math.IsInf(all[p], 0) {
			return nil
		}
	}
	return all
}

// gainOf is by which part a time falls.
func gainOf(now, base float64) float64 { return 1 - now/base }
