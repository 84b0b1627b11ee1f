package demo

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTruth(t *testing.T) {
	for _, test := range []struct {
		parallel bool
		gains    map[int][3]float64 // by speed-up: A, B, C
	}{
		{true, map[int][3]float64{
			0: {0, 0, 0}, 20: {15, 0, 5}, 33: {24.75, 0, 8.25}, 34: {25, 0, 8.5}, 50: {25, 0, 12.5}, 100: {25, 0, 25},
		}},
		{false, map[int][3]float64{0: {0, 0, 0}, 50: {25, 100. / 6, 50. / 6}, 100: {50, 100. / 3, 100. / 6}}},
	} {
		for speedup, want := range test.gains {
			for i, l := range truth(test.parallel) {
				if got := l.Gain(float64(speedup)); math.Abs(got-want[i]) > 1e-9 {
					t.Errorf("parallel %v, %s at %d%%: %v, want %v", test.parallel, l.Name, speedup, got, want[i])
				}
			}
		}
	}
}

// The lines that Truth names do the work.
func TestLines(t *testing.T) {
	text, err := os.ReadFile("work.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, l := range Truth() {
		letter := string("ABC"[i])
		if got := lines[l.Number-1]; !strings.HasSuffix(got, "// line "+letter) {
			t.Errorf("%s is %q, want line %s", l.Name, got, letter)
		}
		if l.Name != fmt.Sprintf("work.go:%d", l.Number) || l.Func != "whatif/internal/demo.work"+letter ||
			!strings.HasSuffix(l.File, "demo/work.go") {
			t.Errorf("%+v", l)
		}
	}
	// All three lines do the same work.
	work := regexp.MustCompile(`x = [^/\n]*[^/\n ]`).FindAllString(string(text), -1)
	if slices.Sort(work); len(work) != 4 || work[0] != work[3] {
		t.Errorf("the lines differ: %q", work)
	}
}

func TestPoint(t *testing.T) {
	if got := Point(); got != "func:whatif/internal/demo.RoundDone" {
		t.Error(got)
	}
}

// Every round does every piece once, even if parts of the work are left out.
func TestRounds(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-a", "100"}, {"-b", "100", "-c", "100"}, {"-a", "100", "-b", "100", "-c", "100"},
	} {
		before := roundsDone
		var out, errs bytes.Buffer
		if status := run(append(args, "-for", "60ms"), &out, &errs); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, errs.String())
		}
		var n uint64
		if _, err := fmt.Sscanf(out.String(), "%d rounds in", &n); err != nil || n < 2 || n != roundsDone-before {
			t.Errorf("%v: %q, %d rounds counted", args, out.String(), roundsDone-before)
		}
	}
	if status := run([]string{"-no"}, &bytes.Buffer{}, &bytes.Buffer{}); status != 2 {
		t.Errorf("a wrong flag: status %d", status)
	}
}

func TestCommand(t *testing.T) {
	if got := strings.Join(Command("-for", "1s"), " "); got != "/proc/self/exe __demo -for 1s" {
		t.Error(got)
	}
}
