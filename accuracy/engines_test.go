package main

import (
	"strings"
	"testing"
)

// One engine has to be right, and whatif has to warn where the other one is not.
func TestJudgeEngines(t *testing.T) {
	made := func(tested, estimated float64, doubts ...string) result {
		return result{Program: "scatter", Doubts: doubts, Levels: []levelResult{{Level: 50, Truth: estimate{38, 37, 39},
			Prediction: &estimate{Gain: tested}, Estimate: &estimate{Gain: estimated}}}}
	}
	refused := made(38, 0)
	refused.Levels[0].Estimate, refused.Refused = nil, "it polls"
	unknown := made(38, 38)
	unknown.Levels = []levelResult{{Level: 50, Truth: estimate{38, 37, 39}}}
	for _, c := range []struct {
		result result
		word   string
		held   bool
	}{
		{made(36, 40), "held; no warning", true},
		{made(25, 35, "shares-differ"), "held; warned of by shares-differ", true},
		{made(25, 35, "few-experiments"), "missed: there is no warning", false},
		{made(36, 20), "missed: there is no warning", false},
		{made(25, 30, "shares-differ"), "missed by 3.0", false},
		{refused, "held; warned of by refused: it polls", true},
		{unknown, "missed: there is no answer at every level", false},
	} {
		lines, missed := judgeEngines([]result{c.result, {Metric: "p50"}})
		if len(lines) != 1 || !strings.Contains(lines[0], c.word) || (len(missed) == 0) != c.held {
			t.Errorf("%q, want %q", lines, c.word)
		}
	}
}
