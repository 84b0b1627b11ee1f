package main

import "math"

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
	n := float64(len(logRatios))
	mean := 0.0
	for _, r := range logRatios {
		mean += r / n
	}
	gain := func(logRatio float64) float64 { return 100 * (1 - math.Exp(logRatio)) }
	if len(logRatios) < 2 {
		return estimate{gain(mean), math.Inf(-1), 100}
	}
	squares := 0.0
	for _, r := range logRatios {
		squares += (r - mean) * (r - mean)
	}
	half := tQuantile(len(logRatios)-1) * math.Sqrt(squares/(n-1)/n)
	return estimate{gain(mean), gain(mean + half), gain(mean - half)}
}

// tQuantile is the 0.975 quantile of Student's t distribution with df degrees of freedom (standard table;
// from 11 on 1.96 + 2.4/df + 2.9/df², which is within 0.002 of it).
func tQuantile(df int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if df <= len(table) {
		return table[df-1]
	}
	d := float64(df)
	return 1.96 + 2.4/d + 2.9/(d*d)
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
