package test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// If the name of a function or a static probe is given as if it were a point in the source, there is no run without
// visits.
func TestForgottenKind(t *testing.T) {
	realkernel.NeedBeside(t)
	program := realkernel.Compile(t, "testdata/counts.c")
	for name, meant := range map[string]string{"visited": "func:visited", "enabled": "usdt:enabled"} {
		cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
			"-s", "0", "-p", name, "--", program)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "did you mean "+meant+"?") {
			t.Errorf("-p %s: %v\n%s", name, err, out)
		}
	}
}

// Where the kernel puts no breakpoint on a function's first instruction another one is counted. At its return there is
// no other.
func TestAtomicCounter(t *testing.T) {
	realkernel.NeedBeside(t)
	program := realkernel.Compile(t, "testdata/atomic.c")
	data, _ := profiled(t, []string{"-s", "0", "-p", "func:visited"}, []string{program}, 0)
	if n := data.End.Visits[0]; n != 300 {
		t.Errorf("%d visits, 300 were made", n)
	}
	cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
		"-s", "0", "-p", "func:visited%return", "--", program)
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 125 ||
		!strings.Contains(string(out), "puts no breakpoint on an instruction there") {
		t.Errorf("at the return: %v\n%s", err, out)
	}
}
