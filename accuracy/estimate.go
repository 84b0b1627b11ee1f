package main

import (
	"math"

	"whatif/internal/noise"
)

// estimate is a program speed-up in percent with its 95% interval.
type estimate struct {
	Gain float64 `json:"gain"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// gainOf turns ln(shrunk period / base period), measured several times, into a gain with an interval:
// Student's t interval of the mean logarithm, carried through 1 - exp. It assumes that the rounds are
// independent and their errors near enough to normal; a burst of foreign load in one round widens it, and
// with two or three rounds it is very wide, as it should be. With one round there is no interval.
func gainOf(logRatios []float64) estimate {
	mean, half := noise.Mean(logRatios)
	gain := func(logRatio float64) float64 { return 100 * (1 - math.Exp(logRatio)) }
	return estimate{gain(mean), gain(mean + half), gain(mean - half)}
}

// covers says whether a prediction's interval contains the truth, when the truth is itself only measured:
// the distance may be as large as both uncertainties together, as independent errors add. Where the two intervals
// are lopsided the side that faces the other counts.
func covers(prediction, truth estimate) bool {
	distance := truth.Gain - prediction.Gain
	ours, its := prediction.High-prediction.Gain, truth.Gain-truth.Low
	if distance < 0 {
		ours, its = prediction.Gain-prediction.Low, truth.High-truth.Gain
	}
	return math.Abs(distance) <= math.Hypot(ours, its)
}
