package load

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	got, err := Parse("cpu  100 1 20 4000 5 3 2 7 0 0\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := 126 * 10 * time.Millisecond; got.Busy != want {
		t.Errorf("busy %v, want %v", got.Busy, want)
	}
	if want := 5 * 10 * time.Millisecond; got.Interrupts != want {
		t.Errorf("interrupts %v, want %v", got.Interrupts, want)
	}
	if want := 70 * time.Millisecond; got.Steal != want {
		t.Errorf("steal %v, want %v", got.Steal, want)
	}
	for _, line := range []string{"", "cpu0 1 2 3 4 5 6 7 8 9 10", "cpu 1 2 3", "cpu 1 2 3 x 5 6 7 8 9 10"} {
		if _, err := Parse(line); err == nil {
			t.Errorf("Parse(%q): no error", line)
		}
	}
}

func TestWaitForQuiet(t *testing.T) {
	if waited, err := WaitForQuiet(t.Context(), 0); err != nil || waited > time.Second {
		t.Errorf("without patience: %v, %v", waited, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WaitForQuiet(ctx, time.Hour); err == nil {
		t.Error("the wait goes on after an interrupt")
	}
}

// The scale is as exact as the measurement, which is the best of many loops on any machine.
func TestStepsPerMicrosecond(t *testing.T) {
	of := func(scale string) float64 {
		return float64(StepsPerMicrosecond(func(name string) string {
			if name == ScaleVariable {
				return scale
			}
			return ""
		}))
	}
	plain, less, wrong := of(""), of("0.7"), of("fast")
	if plain < 50 || plain > 5000 {
		t.Errorf("%.0f steps a microsecond", plain)
	}
	if math.Abs(less/plain-0.7) > 0.15 || math.Abs(wrong/plain-1) > 0.2 {
		t.Errorf("%.0f steps a microsecond, with 0.7 of them %.0f, with nonsense %.0f", plain, less, wrong)
	}
	if s := Spread(); !(s >= 0) || math.IsInf(s, 0) {
		t.Errorf("a spread of %g", s)
	}
}
