package main

import (
	"math"
	"slices"
	"strings"
)

// levelResult is one level of one program. Prediction, which experiments have made, Estimate, which comes from a
// recording, and Coz are nil if there is none.
type levelResult struct {
	Level      int       `json:"level"`
	Truth      estimate  `json:"truth"`
	Prediction *estimate `json:"prediction,omitempty"`
	Estimate   *estimate `json:"estimate,omitempty"`
	Coz        *float64  `json:"coz,omitempty"`
}

// result has the measurements of one metric of one program.
type result struct {
	Program string        `json:"program"`
	Metric  string        `json:"metric,omitempty"` // empty: throughput
	Target  string        `json:"target,omitempty"` // the program's second target; empty: the first
	Kind    kind          `json:"kind"`
	Levels  []levelResult `json:"levels"`
	Rounds  int           `json:"rounds"` // of truth
	// Disturbed is the share of the truth's runs during which other programs used too much of the machine.
	Disturbed float64 `json:"disturbed"`
	// Foreign is the mean share of the machine that other programs used during the truth's runs.
	Foreign  float64  `json:"foreign"`
	Warnings []string `json:"warnings,omitempty"`
	// Refused is why whatif makes no estimate of this metric from the recording; empty: it makes one.
	Refused string `json:"refused,omitempty"`
	// Doubts are the codes of whatif's warnings about the target.
	Doubts []string `json:"doubts,omitempty"`
	// Rank is the target's place among all units when whatif was told no target; 0: it was none of them, or was told.
	Rank   int `json:"rank,omitempty"`
	ranked bool
	model  []float64
}

// name is the program's name, with the target if that is not the first, and the metric if that is not throughput.
func (r *result) name() string {
	return strings.Join(slices.DeleteFunc([]string{r.Program, r.Target, r.Metric}, func(s string) bool { return s == "" }),
		" ")
}

// errorOf is the mean absolute error of whatif's predictions over the levels, in points; NaN unless every level has a
// prediction.
func (r *result) errorOf() float64 {
	return r.meanError(func(l levelResult) float64 {
		if l.Prediction == nil {
			return math.NaN()
		}
		return l.Prediction.Gain
	})
}

// estimateError is errorOf for the estimates from a recording.
func (r *result) estimateError() float64 {
	return r.meanError(func(l levelResult) float64 {
		if l.Estimate == nil {
			return math.NaN()
		}
		return l.Estimate.Gain
	})
}

// cozError is errorOf for coz's predictions.
func (r *result) cozError() float64 {
	return r.meanError(func(l levelResult) float64 {
		if l.Coz == nil {
			return math.NaN()
		}
		return *l.Coz
	})
}

func (r *result) meanError(predicted func(levelResult) float64) float64 {
	sum := 0.0
	for _, l := range r.Levels {
		sum += math.Abs(predicted(l) - l.Truth.Gain)
	}
	return sum / float64(len(r.Levels))
}

// covered counts the levels whose predicted interval contains the truth.
func (r *result) covered() (inside, of int) {
	return r.within(func(l levelResult) *estimate { return l.Prediction })
}

// estimatesWithin is covered for the estimates from a recording.
func (r *result) estimatesWithin() (inside, of int) {
	return r.within(func(l levelResult) *estimate { return l.Estimate })
}

func (r *result) within(interval func(levelResult) *estimate) (inside, of int) {
	for _, l := range r.Levels {
		e := interval(l)
		if e == nil {
			continue
		}
		of++
		if covers(*e, l.Truth) {
			inside++
		}
	}
	return inside, of
}

// summary has the figures of the whole suite.
type summary struct {
	programs     int     // with a prediction; one with two targets counts twice
	missing      int     // programs without one
	meanError    float64 // over the programs with a prediction
	worstProgram string
	worstError   float64
	inside, of   int
	// Both errors over the programs that coz could run.
	cozPrograms       int
	cozError, ourSame float64
}

// summarize averages the results of throughput. Each program has the same weight. A mean over no programs is NaN.
func summarize(results []result) summary {
	var s summary
	var sum, coz, same float64
	for i := range results {
		r := &results[i]
		if r.Metric != "" {
			continue
		}
		e := r.errorOf()
		if math.IsNaN(e) {
			s.missing++
			continue
		}
		s.programs++
		sum += e
		if e >= s.worstError {
			s.worstError, s.worstProgram = e, r.name()
		}
		inside, of := r.covered()
		s.inside += inside
		s.of += of
		if c := r.cozError(); !math.IsNaN(c) {
			s.cozPrograms++
			coz += c
			same += e
		}
	}
	s.meanError = sum / float64(s.programs)
	s.cozError = coz / float64(s.cozPrograms)
	s.ourSame = same / float64(s.cozPrograms)
	return s
}
