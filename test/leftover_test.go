package test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

// When the time is up all processes end that the program has started, except those that have left its process group. So
// it is, too, where the program ends sooner, and where it does not pass the signal on.
func TestLeftovers(t *testing.T) {
	realkernel.NeedBeside(t)
	for _, c := range []struct {
		last  string
		flags []string
	}{{"exit 0", []string{"-s", "0"}}, {"sleep 60", []string{"-s", "0"}}, {"exit 0", []string{"--no-delays"}}} {
		last := c.last
		script := "{ while sleep 0.02; do :; done 3>&- & echo $! >&3; setsid sleep 60 3>&- & echo $! >&3; } " +
			"3>&1 >/dev/null 2>&1; " + last
		status := 143
		if last == "exit 0" {
			status = 0
		}
		_, said := profiled(t, append(c.flags, "-p", "syscall:clock_nanosleep", "-d", "1s"),
			[]string{"sh", "-c", script + " >/dev/null 2>&1"}, status)
		var left, daemon int
		if n, err := fmt.Sscan(said, &left, &daemon); n != 2 {
			t.Fatalf("%q: %v", said, err)
		}
		defer unix.Kill(daemon, unix.SIGKILL)
		checkEnded(t, last, left)
		if hasEnded(daemon) {
			t.Errorf("%s: what has left its process group was ended, too", last)
		}
	}
}

func hasEnded(pid int) bool {
	s, err := target.StatOf(pid)
	return err != nil || s.Ended()
}

func checkEnded(t *testing.T, of string, pid int) {
	t.Helper()
	for end := time.Now().Add(patience); !hasEnded(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			unix.Kill(pid, unix.SIGKILL)
			t.Errorf("%s: what it has left in its process group goes on", of)
			return
		}
	}
}

// A process that is started while the program ends is told to end, too, and not in the moment in which it cannot know
// what to do with the signal.
func TestLeftoversOfTheEnd(t *testing.T) {
	realkernel.NeedBeside(t)
	const leaves = "while sleep 0.02; do :; done >/dev/null 2>&1 3>&- & echo $! >&3"
	script := "{ trap '" + leaves + "; exit 9' TERM; while sleep 0.02; do :; done; } 3>&1 >/dev/null 2>&1"
	newborn := realkernel.Compile(t, "testdata/newborn.c")
	for _, program := range [][]string{{"sh", "-c", script}, {newborn}} {
		_, said := profiled(t, []string{"-p", "syscall:clock_nanosleep", "-s", "0", "-d", "1s"}, program, 9)
		var left int
		if n, err := fmt.Sscan(said, &left); n != 1 {
			t.Fatalf("%q: %v", said, err)
		}
		checkEnded(t, fmt.Sprint(program), left)
	}
}

// Once the program was interrupted and has ended, the processes that it leaves behind are not profiled any more, and
// are told to end; nor is the program run again.
func TestInterrupted(t *testing.T) {
	realkernel.NeedBeside(t)
	const leaves = "{ while sleep 0.02; do :; done 3>&- & echo $! >&3; } 3>&1 >/dev/null 2>&1; "
	for _, c := range []struct {
		flags  []string
		script string
		status int
	}{
		{nil, "sleep 1; kill -TERM $PPID; sleep 120", 143},
		{[]string{"-d", "120s"}, "trap 'exit 0' TERM; sleep 1; kill -TERM $PPID; while :; do sleep 0.02; done", 0},
		{[]string{"-d", "120s"}, "(sleep 2; kill -TERM $PPID) & exit 0", 0},
	} {
		began := time.Now()
		_, said := profiled(t, append(c.flags, "-p", "syscall:clock_nanosleep", "-s", "0"),
			[]string{"sh", "-c", leaves + c.script + " >/dev/null 2>&1"}, c.status)
		var left, more int
		if n, _ := fmt.Sscan(said, &left, &more); n != 1 {
			t.Errorf("%s: it was run more often than once, or not at all: %q", c.script, said)
			continue
		}
		if took := time.Since(began); took > patience {
			t.Errorf("%s: whatif went on for %v", c.script, took)
		}
		checkEnded(t, c.script, left)
	}
}

// A process that does not end when it is told to is named, with a way to end it; if it is the program, whatif waits for
// it.
func TestStubborn(t *testing.T) {
	realkernel.NeedBeside(t)
	const stubborn = "trap '' TERM; for i in $(seq 3000); do sleep 0.02; done" // a minute, if nobody ends it
	for _, c := range []struct {
		name, script string
		status       int
	}{{"program", stubborn, 137}, {"left", "{ " + stubborn + "; } & exit 0", 0}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			endNamed(t, c.script, "kill -KILL ", c.status)
		})
	}
}

// A process that has left the program's process group is not told to end, but named.
func TestAway(t *testing.T) {
	realkernel.NeedBeside(t)
	endNamed(t, "setsid sleep 60 >/dev/null 2>&1 & exit 0",
		"is in another process group, so it was not told to end. kill ", 0)
}

// endNamed ends a process that whatif names as one that goes on, after these words.
func endNamed(t *testing.T, script, words string, status int) {
	t.Helper()
	cmd := exec.Command(realkernel.Whatif(t), "run", "--preserve-status",
		"-o", filepath.Join(t.TempDir(), "whatif.profile"), "-p", "syscall:clock_nanosleep", "-s", "0", "-d", "1s", "--",
		"sh", "-c", script)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, named := "", 0
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said += lines.Text() + "\n"
		if _, after, ok := strings.Cut(lines.Text(), words); ok {
			fmt.Sscan(after, &named)
			if err := unix.Kill(named, unix.SIGKILL); err != nil {
				t.Errorf("ending process %d: %v", named, err)
			}
		}
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); named == 0 || got != status {
		t.Errorf("%s: status %d, want %d; told to end process %d\n%s", script, got, status, named, said)
	}
}

// A shell may have started other programs before it became whatif: the processes that those leave behind are not
// whatif's to end.
func TestLeftoversOfOthers(t *testing.T) {
	realkernel.NeedBeside(t)
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `{ until [ -e told ]; do sleep 0.02; done; sleep 60 & echo $! >left; } &
		exec "$0" run --quiet --preserve-status -p syscall:clock_nanosleep -s 0 -d 1s -- sh -c '
		trap ": >told; sleep 1; exit 9" TERM; while sleep 0.02; do :; done'`, realkernel.Whatif(t))
	cmd.Dir = dir
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 9 {
		t.Fatalf("status %d", got)
	}
	said, err := os.ReadFile(filepath.Join(dir, "left"))
	if err != nil {
		t.Fatal(err)
	}
	var left int
	if n, err := fmt.Sscan(string(said), &left); n != 1 {
		t.Fatalf("%q: %v", said, err)
	}
	if hasEnded(left) {
		t.Error("what another has left behind was ended")
	}
	unix.Kill(left, unix.SIGKILL)
}
