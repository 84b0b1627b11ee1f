package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// someEstimates are three programs: one is estimated 2 points too high, with one interval of two that holds; one is
// refused; and one, of goroutines, is right.
func someEstimates() []result {
	level := func(l int, truth, estimated float64) levelResult {
		return levelResult{Level: l, Truth: estimate{truth, truth, truth},
			Estimate: &estimate{estimated, estimated - 2, estimated + 2}}
	}
	return []result{
		{Program: "barrier", Kind: ordinary, Levels: []levelResult{level(25, 25, 26), level(75, 33, 36)}},
		{Program: "spin", Kind: spinning, Refused: "it waits busily", Levels: []levelResult{{Level: 25}, {Level: 75}}},
		{Program: "go_channels", Kind: ordinary, Levels: []levelResult{level(25, 25, 25), level(75, 40, 40)}},
	}
}

func TestEstimateLines(t *testing.T) {
	results := someEstimates()
	s := summarizeEstimates(results, estimateGroups[0].counts)
	if s.programs != 3 || s.refused != 1 || math.Abs(s.meanError-1) > 1e-9 || s.inside != 3 || s.of != 4 || s.width != 4 {
		t.Errorf("%+v", s)
	}
	if s := summarizeEstimates(results, hasGoroutines); s.programs != 1 || s.meanError != 0 {
		t.Errorf("goroutines: %+v", s)
	}
	lines, missed := estimateLines(results)
	if len(lines) != 4 || !strings.Contains(lines[1], "2, of which 0 are refused; mean error of the others 1.0 points") {
		t.Errorf("lines: %q", lines)
	}
	if !strings.Contains(lines[3], "0.00 to 1.50 times as wide") || !strings.Contains(lines[3], "2 of 4 levels (50%)") {
		t.Errorf("leaving one out: %q", lines[3])
	}
	want := []string{"1 of 3 programs are refused", "3 of 4 intervals contain the truth"}
	if len(missed) != 2 || !strings.HasPrefix(missed[0], want[0]) || !strings.HasPrefix(missed[1], want[1]) {
		t.Errorf("missed: %q", missed)
	}
	for i := range results[0].Levels {
		results[0].Levels[i].Estimate.Gain += 20
	}
	if _, missed := estimateLines(results); len(missed) != 4 {
		t.Errorf("20 points off: missed %q", missed)
	}
}

func TestEstimateTable(t *testing.T) {
	rows := estimateTable(someEstimates())
	want := "barrier|25.0±0.0, 33.0±0.0|26.0 [24.0..28.0], 36.0 [34.0..38.0]|2.0|1/2|–, –|–|–"
	if got := strings.Join(rows[1], "|"); got != want {
		t.Error(got)
	}
	if got := rows[2][2]; got != "refused: it waits busily" {
		t.Error(got)
	}
}

func TestReadKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.json")
	o := options{jsonFile: file}
	if err := o.writeJSON(someEstimates()); err != nil {
		t.Fatal(err)
	}
	kept, err := readKept([]string{file}, []program{{name: "spin"}, {name: "barrier"}})
	if err != nil || len(kept) != 2 || kept[0].Levels[1].Truth.Gain != 33 || kept[1].Refused == "" {
		t.Errorf("%+v, %v", kept, err)
	}
	if _, err := readKept([]string{file}, []program{{name: "other"}}); err == nil {
		t.Error("no program of these was kept, and no error")
	}
	if err := os.WriteFile(file, []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readKept([]string{file}, nil); err == nil {
		t.Error("no JSON, and no error")
	}
}
