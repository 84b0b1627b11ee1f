package experiment

import (
	"strings"
	"testing"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
)

// A point has 10 s from when it was found. If nothing has it the user is told once, and it is looked at again.
func TestNeglected(t *testing.T) {
	for _, c := range []struct {
		waited time.Duration
		found  bool
		visits int64
		say    string // how it begins
		again  time.Duration
	}{
		{0, true, 0, "", patience},
		{4 * time.Second, false, 0, "", 6 * time.Second},
		{4 * time.Second, true, 1, "", 0},
		{patience, true, 0, "visited 0 times in 10s, so nothing can be measured yet", 0},
		{patience, false, 0, "visited 0 times in 10s, as nothing that has run so far has it", patience},
		{time.Minute, true, 7, "", 0},
	} {
		say, again := neglected(c.waited, c.found, c.visits)
		if !strings.HasPrefix(say, c.say) || (say == "") != (c.say == "") || again != c.again {
			t.Errorf("%+v: %q, %v", c, say, again)
		}
	}
}

// Single steps are mentioned only where a probe stands on an instruction, and WHATIF_PROGRESS only to users who do not
// use it.
func TestCheaper(t *testing.T) {
	w := &pointWatch{ledger: &ledger.Ledger{}}
	for _, kind := range []point.Kind{point.Syscall, point.Tracepoint, point.Source} {
		got := w.cheaper(point.Spec{Kind: kind}, time.Microsecond)
		if strings.Contains(got, "instruction") || strings.Contains(got, "WHATIF_PROGRESS") != (kind != point.Source) {
			t.Errorf("of a point of kind %v: %s", kind, got)
		}
	}
}
