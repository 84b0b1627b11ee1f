package test

import (
	"os"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// A program has the timer slack that this process was given, although threads of whatif itself sleep longer.
func TestProgramKeepsSlack(t *testing.T) {
	realkernel.NeedBeside(t)
	given, err := os.ReadFile("/proc/self/timerslack_ns")
	if err != nil {
		t.Fatal(err)
	}
	_, said := profiled(t, []string{"-s", "0", "-p", "syscall:read", "--repeat", "5"},
		[]string{"/bin/cat", "/proc/self/timerslack_ns"}, 0)
	if said != strings.Repeat(string(given), 5) {
		t.Errorf("the program's slack is %q ns, this process was given %q", said, given)
	}
}
