package experiment

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/realkernel"
)

// A point has 10 s from when it was found. If nothing has it the user is told once, and it is looked at again.
func TestNeglected(t *testing.T) {
	for _, c := range []struct {
		waited time.Duration
		found  bool
		visits int64
		say    string
		again  time.Duration
	}{
		{0, true, 0, "", patience},
		{4 * time.Second, false, 0, "", 6 * time.Second},
		{4 * time.Second, true, 1, "", 0},
		{patience, true, 0, "visited 0 times in 10s", 0},
		{patience, false, 0, "visited 0 times in 10s: nothing that has run so far has it", patience},
		{time.Minute, true, 7, "", 0},
	} {
		if say, again := neglected(c.waited, c.found, c.visits); say != c.say || again != c.again {
			t.Errorf("%+v: %q, %v", c, say, again)
		}
	}
}

// If the name of a function or a static probe is given as if it were a point in the source, there is no run without
// visits.
func TestForgottenKind(t *testing.T) {
	realkernel.Need(t)
	program := realkernel.Compile(t, "testdata/counts.c")
	for name, meant := range map[string]string{"visited": "func:visited", "enabled": "usdt:enabled"} {
		cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
			"-p", name, "--", program)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "did you mean "+meant+"?") {
			t.Errorf("-p %s: %v\n%s", name, err, out)
		}
	}
}

// Where the kernel puts no breakpoint on a function's first instruction another one is counted. At its return there is
// no other.
func TestAtomicCounter(t *testing.T) {
	realkernel.Need(t)
	program := realkernel.Compile(t, "testdata/atomic.c")
	data, _ := profiled(t, []string{"-p", "func:visited"}, []string{program}, 0)
	if n := data.End.Visits[0]; n != 300 {
		t.Errorf("%d visits, 300 were made", n)
	}
	cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
		"-p", "func:visited%return", "--", program)
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 125 ||
		!strings.Contains(string(out), "puts no breakpoint on an instruction there") {
		t.Errorf("at the return: %v\n%s", err, out)
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
