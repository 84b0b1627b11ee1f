package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each program has both lines, once.
func TestLines(t *testing.T) {
	for _, name := range programs {
		text, err := os.ReadFile(filepath.Join("..", "programs", name, name+".c"))
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range []string{"(shrunk(", "// TARGET\n", "(also_shrunk(", "// ALSO\n"} {
			if n := strings.Count(string(text), mark); n != 1 {
				t.Errorf("%s has %q %d times, want once", name, mark, n)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-only", "lock,barrier"})
	if err != nil || len(o.chosen) != 2 || o.chosen[1] != "barrier" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{
		{"-only", "spin"}, {"-rounds", "1"}, {"-seconds", "0"}, {"-record", "1ms"}, {"-experiments", "1ms"}, {"more"},
	} {
		if _, err := parseOptions(io.Discard, wrong); err == nil {
			t.Errorf("%v: taken", wrong)
		}
	}
}

// Both kinds of questions are judged apart, by their own limits, and a refusal is no answer.
func TestVerdicts(t *testing.T) {
	both, cores := question{target: 50, also: 50}, question{cores: 1}
	rows := []row{
		{program: "a", question: both, truth: gain{40, 39, 41}, answer: gain{43, 40, 46}},
		{program: "a", question: cores, truth: gain{-60, -61, -59}, answer: gain{-67, -70, -60}},
		{program: "b", question: cores, truth: gain{-60, -61, -59}, answer: gain{-69, -70, -60}},
	}
	lines, missed := verdicts(rows)
	if len(lines) != 2 || !strings.Contains(lines[0], "1 of 1") || !strings.HasSuffix(lines[0], "held") ||
		len(missed) != 1 || !strings.Contains(missed[0], "1 of 2 answers are close enough, mean error 8.0 points: missed") {
		t.Errorf("%q, missed %q", lines, missed)
	}
	rows = append(rows, row{program: "c", question: both, refused: "it polls"})
	if _, missed := verdicts(rows); len(missed) != 2 || !strings.Contains(missed[0], "mean error 3.0") {
		t.Errorf("missed %q", missed)
	}
	rows = append(rows, row{program: "d", question: both, truth: gain{40, 39, 41}, answer: gain{41, 40, 42},
		tested: &gain{45, 42, 48}})
	lines, missed = verdicts(rows)
	if len(lines) != 3 || !strings.Contains(lines[2], "0 of 1 are close enough, mean error 5.0") || len(missed) != 3 {
		t.Errorf("%q, missed %q", lines, missed)
	}
	var table strings.Builder
	if err := write(&table, rows); err != nil || !strings.Contains(table.String(), "missed by 1.0") ||
		!strings.Contains(table.String(), "refused: it polls") {
		t.Errorf("%v\n%s", err, table.String())
	}
}
