package main

import "math"

// levelResult is one level of one program. Prediction and Coz are nil where there is none.
type levelResult struct {
	Level      int       `json:"level"`
	Truth      estimate  `json:"truth"`
	Prediction *estimate `json:"prediction,omitempty"`
	Coz        *float64  `json:"coz,omitempty"`
}

// result is what was found about one program.
type result struct {
	Program string        `json:"program"`
	Metric  string        `json:"metric,omitempty"` // empty: throughput
	Kind    kind          `json:"kind"`
	Levels  []levelResult `json:"levels"`
	Rounds  int           `json:"rounds"` // of truth
	// Disturbed is the share of the truth's runs during which others used too much of the machine.
	Disturbed float64 `json:"disturbed"`
	// Foreign is the share of the machine that others used during those runs, on average.
	Foreign  float64  `json:"foreign"`
	Warnings []string `json:"warnings,omitempty"`
	model    []float64
}

// name is the program's, with the metric if that is not throughput.
func (r *result) name() string {
	if r.Metric == "" {
		return r.Program
	}
	return r.Program + " " + r.Metric
}

// errorOf is the mean absolute error of whatif's prediction over the levels, in points; NaN unless every level
// has one.
func (r *result) errorOf() float64 {
	return r.meanError(func(l levelResult) float64 {
		if l.Prediction == nil {
			return math.NaN()
		}
		return l.Prediction.Gain
	})
}

// cozError is the same for coz.
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
	for _, l := range r.Levels {
		if l.Prediction == nil {
			continue
		}
		of++
		if covers(*l.Prediction, l.Truth) {
			inside++
		}
	}
	return inside, of
}

// summary is what is found about the whole suite.
type summary struct {
	programs     int     // that have a prediction
	missing      int     // that have none
	meanError    float64 // over the programs that have one
	worstProgram string
	worstError   float64
	inside, of   int
	// Over the programs that coz could run: both errors, side by side.
	cozPrograms       int
	cozError, ourSame float64
}

// summarize takes means over programs, each of which counts the same, by their throughput. It is NaN where there is nothing to average.
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
			s.worstError, s.worstProgram = e, r.Program
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
