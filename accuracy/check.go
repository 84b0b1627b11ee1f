package main

import (
	"fmt"
	"math"
	"slices"
)

// limits are the targets of accuracy, in percentage points unless stated otherwise.
var limits = struct {
	mean     float64          // error over the suite
	crossing float64          // error over programs that are all of this kind
	made     float64          // error over programs with code that is made while they run
	program  map[kind]float64 // mean error of one program
	zero     float64          // error at any level of a program with a truth of 0
	coverage float64          // share of the 95% intervals that contain the truth
	coz      float64          // whatif's error as a share of coz's, on the programs that coz can run
}{
	mean:     3,
	crossing: 4,
	made:     4,
	program: map[kind]float64{
		ordinary: 6, spinning: 10, zero: 2, timed: 5, tail: 10, crossing: 8, waiting: 8, library: 4, made: 8,
	},
	zero:     2,
	coverage: 0.9,
	coz:      1.0 / 3,
}

// suitePrograms is the least number of programs of a suite. With fewer, their mean error and the share of intervals
// that contain the truth are chance, so each program is only judged by itself. crossingPrograms is the same for a suite
// of processes that wake each other.
const suitePrograms, crossingPrograms = 12, 9

// missed lists the targets that the results miss.
func missed(results []result) []string {
	var found []string
	miss := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for i := range results {
		r := &results[i]
		e, latency := r.errorOf(), r.Kind == timed || r.Kind == tail
		switch {
		case math.IsNaN(e):
			miss("%s: no prediction at every level", r.name())
		case !latency && e > limits.program[r.Kind]:
			miss("%s: error %.1f, at most %.0f allowed", r.name(), e, limits.program[r.Kind])
		}
		if r.ranked && r.Rank != 1 {
			miss("%s: told only the point, whatif has its target at place %d, 1 expected", r.name(), r.Rank)
		}
		for _, l := range r.Levels {
			if l.Prediction == nil {
				continue
			}
			// A latency has to be right at each level, not on average. At 100% it is too short to be judged.
			if off := math.Abs(l.Prediction.Gain - l.Truth.Gain); latency && l.Level <= 75 && off > limits.program[r.Kind] {
				miss("%s: error %.1f at %d%%, at most %.0f allowed", r.name(), off, l.Level, limits.program[r.Kind])
			}
			if r.Kind == zero && math.Abs(l.Prediction.Gain) > limits.zero {
				miss("%s: %.1f predicted at %d%%, within %.0f of 0 expected", r.name(), l.Prediction.Gain, l.Level,
					limits.zero)
			}
		}
	}
	s, mean, enough := summarize(results), limits.mean, suitePrograms
	switch {
	case only(results, crossing):
		mean, enough = limits.crossing, crossingPrograms
	case only(results, made, zero):
		mean = limits.made
	}
	if s.programs < enough {
		return found
	}
	if s.meanError > mean {
		miss("suite: mean error %.1f, at most %.0f allowed", s.meanError, mean)
	}
	if s.of > 0 && float64(s.inside) < limits.coverage*float64(s.of) {
		miss("suite: %d of %d intervals contain the truth, %.0f%% expected", s.inside, s.of, 100*limits.coverage)
	}
	if s.cozPrograms > 0 && s.ourSame > limits.coz*s.cozError {
		miss("suite: error %.1f where coz has %.1f, a third expected", s.ourSame, s.cozError)
	}
	return found
}

// only tells whether all results are of these kinds.
func only(results []result, kinds ...kind) bool {
	return !slices.ContainsFunc(results, func(r result) bool { return !slices.Contains(kinds, r.Kind) })
}
