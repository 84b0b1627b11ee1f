package synthetic

import "math"

// Shape is how durations scatter about their mean.
type Shape uint8

// The shapes.
const (
	Fixed       Shape = iota
	Uniform           // from half the mean to one and a half
	Exponential       // cut off at eight means
	TwoPeaks          // nine of ten are short, the tenth is almost eight times as long
)

// Distribution is what a step's durations are drawn from.
type Distribution struct {
	Mean  int64 // ns
	Shape Shape
}

// at is the duration for u, which is uniform in [0, 1).
func (d Distribution) at(u float64) int64 {
	mean := float64(d.Mean)
	switch d.Shape {
	case Uniform:
		return int64(mean * (0.5 + u))
	case Exponential:
		return int64(mean * min(8, -math.Log(1-u)))
	case TwoPeaks:
		if u < 0.9 {
			return int64(mean * 0.6)
		}
		return int64(mean * 4.6)
	}
	return d.Mean
}

// mix is a hash of some numbers, by the finalizer of SplitMix64.
func mix(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// unit makes a number in [0, 1) of a hash.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// hashed is the hash of a text (FNV-1a).
func hashed(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return h
}
