package test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// A program has the timer slack that whatif was given, although threads of whatif itself sleep longer. Here it is given
// by the thread that starts whatif: other threads of this process may have another one.
func TestProgramKeepsSlack(t *testing.T) {
	realkernel.NeedBeside(t)
	const given = 71_234   // ns, which no other thread has
	runtime.LockOSThread() // for good: the thread ends with the test, as it is like no other
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, given, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	_, said := profiled(t, []string{"-s", "0", "-p", "syscall:read", "--repeat", "5"},
		[]string{"/bin/cat", "/proc/self/timerslack_ns"}, 0)
	if said != strings.Repeat(fmt.Sprintln(given), 5) {
		t.Errorf("the program's slack is %q ns, whatif was given %d", said, given)
	}
}
