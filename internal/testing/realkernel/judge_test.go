package realkernel

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/noise"
)

// recorder stands for a test, and keeps its failures.
type recorder struct {
	testing.TB
	failed []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Log(...any)          {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

// A figure that is not judged fails the test only in CI. Elsewhere the test passes, and the user can read about it.
func TestNotJudged(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	t.Setenv(notJudgedVariable, said)
	t.Setenv(strictVariable, "")
	r := &recorder{TB: t}
	NotJudged(r, "not judged: too noisy: a")
	NotJudged(r, "not judged: too noisy: b")
	text, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	want := "TestNotJudged: not judged: too noisy: a\nTestNotJudged: not judged: too noisy: b\n"
	if string(text) != want || r.failed != nil {
		t.Errorf("%q, failed with %q", text, r.failed)
	}
	t.Setenv(strictVariable, "1")
	if NotJudged(r, "not judged: too noisy: c"); len(r.failed) != 1 || !strings.Contains(r.failed[0], "too noisy: c") {
		t.Errorf("failed with %q", r.failed)
	}
}

// Judge does not repeat a measurement that is right, and does not accept a figure that is not a number.
func TestJudgeFigures(t *testing.T) {
	patience.Lock()
	left := patience.left
	patience.left = 0
	patience.Unlock()
	defer func() { patience.left = left }()
	t.Setenv(strictVariable, "1")
	for _, test := range []struct {
		value, foreign float64
		times          int // 0: once
		failure        string
	}{
		{value: 10},
		{value: 10, foreign: 1},
		{value: math.NaN(), failure: "mean of 1: "},
		{value: 90, times: 3, failure: "mean of 3: "}, // wrong, or not judged, as noisy as the machine is
	} {
		r, times := &recorder{TB: t}, 0
		Judge(r, func() ([]noise.Figure, float64) {
			times++
			return []noise.Figure{noise.Around("a gain", test.value, 10, 5)}, test.foreign
		})
		failed := strings.Join(r.failed, "; ")
		if times != max(test.times, 1) || !strings.HasPrefix(failed, test.failure) || test.failure == "" && failed != "" {
			t.Errorf("%+v: measured %d times, failed with %q", test, times, failed)
		}
	}
}

func TestPeriodOf(t *testing.T) {
	if got, err := periodOf("hello\nvisits 4 seconds 0.5\n"); got != 0.125 || err != nil {
		t.Errorf("%g, %v", got, err)
	}
	for _, wrong := range []string{"", "visits 0 seconds 1\n", "visits 3\n"} {
		if got, err := periodOf(wrong); err == nil {
			t.Errorf("%q: %g", wrong, got)
		}
	}
}

func TestForeignShare(t *testing.T) {
	experiments := []profile.Experiment{{RealNS: 100, ForeignNS: 40}, {RealNS: 100}}
	data := &profile.Data{Run: profile.Run{CPUs: 2}, Experiments: experiments}
	if got := ForeignShare(data); got != 0.1 {
		t.Errorf("%g, want 0.1", got)
	}
	if got := ForeignShare(&profile.Data{}); got != 0 {
		t.Errorf("of nothing: %g", got)
	}
}
