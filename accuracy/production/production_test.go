package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"whatif/accuracy/internal/rig"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-rates", "100, 0", "-pairs", "2"})
	if err != nil || len(o.rates) != 2 || o.rates[0] != 100 || o.pairs != 2 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{
		{"-rates", "many"}, {"-rates", "-1"}, {"-pairs", "0"}, {"-seconds", "0"}, {"-clients", "65"}, {"more"},
	} {
		if _, err := parseOptions(io.Discard, wrong); err == nil {
			t.Errorf("%v: taken", wrong)
		}
	}
}

// The median of the pairs' ratios is judged, and not the ratio of the medians: the machine's speed drifts from pair to
// pair.
func TestLines(t *testing.T) {
	r := row{rate: 8000}
	for _, speed := range []float64{1, 2, 4} {
		without := rig.Said{"visits": 8000, "seconds": 1, "p50": 40e-6 * speed, "p99": 200e-6 * speed}
		with := rig.Said{"visits": 8000, "seconds": 1, "p50": 41e-6 * speed, "p99": 230e-6 * speed}
		r.pairs = append(r.pairs, pair{with: with, without: without, attached: 10 * time.Second, own: 100 * time.Millisecond})
	}
	lines, missed := r.lines()
	text := strings.Join(lines, "\n")
	for _, want := range []string{
		"8000 requests a second, 3 pairs", "1.0% of a core",
		"p50: 80.0 us without, 82.0 us with; ratio 1.025", "at most 1.05 wanted: held", "missed by 0.050",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(missed) != 1 || !strings.Contains(missed[0], "8000 requests a second: p99") &&
		!strings.Contains(missed[0], "8000 requests a second: ") {
		t.Errorf("missed: %q", missed)
	}
}
