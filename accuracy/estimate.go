package main

import (
	"math"

	"whatif/internal/testing/noise"
)

// estimate is a program speed-up in percent with its 95% interval.
type estimate struct {
	Gain float64 `json:"gain"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// gainOf computes a gain with an interval from several measurements of ln(reduced period / base period). The interval
// is Student's t interval of the mean logarithm, transformed by 1 - exp. It assumes that the rounds are independent and
// their errors about normal. A burst of foreign load in one round widens it, and with two or three rounds it is very
// wide, as it should be. With one round there is no interval.
func gainOf(logRatios []float64) estimate {
	mean, half := noise.Mean(logRatios)
	gain := func(logRatio float64) float64 { return 100 * (1 - math.Exp(logRatio)) }
	return estimate{gain(mean), gain(mean + half), gain(mean - half)}
}

// covers tells whether a prediction's interval contains the truth. The truth is itself measured, so the distance may be
// as large as both uncertainties together, which add like independent errors. Of an asymmetric interval the side counts
// that faces the other interval.
func covers(prediction, truth estimate) bool {
	distance := truth.Gain - prediction.Gain
	ours, its := prediction.High-prediction.Gain, truth.Gain-truth.Low
	if distance < 0 {
		ours, its = prediction.Gain-prediction.Low, truth.High-truth.Gain
	}
	return math.Abs(distance) <= math.Hypot(ours, its)
}
