package test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// Of two sessions that stop cores the second one ends at once, whatever either of them profiles. A session that stops
// nothing may run beside any.
func TestTwoSessions(t *testing.T) {
	realkernel.NeedSession(t)
	program := compileBusy(t)
	p := startBusy(t, program, "1")
	commands := map[string][]string{
		"run":    {"run", "-p", "syscall:getppid", "-d", "1s", "--", program, "1", filepath.Join(t.TempDir(), "none")},
		"attach": {"attach", "-p", "syscall:getppid", "-d", "1s", strconv.Itoa(p.pid())},
		"system": {"system", "-p", "syscall:getppid", "-d", "1s"},
	}
	whatif := func(flags ...string) (status int, stderr string) {
		cmd := exec.Command(realkernel.Whatif(t), flags...)
		cmd.Dir = t.TempDir()
		var said bytes.Buffer
		cmd.Stderr = &said
		cmd.Run()
		return cmd.ProcessState.ExitCode(), said.String()
	}
	beside := map[string]string{"run": "attach", "attach": "system", "system": "run"}
	var started *pulse // by whatif, and not ended with it
	for first, start := range map[string]func() *attaching{
		"run": func() *attaching {
			a := &attaching{file: filepath.Join(t.TempDir(), "whatif.profile")}
			q := preparePulse(t, realkernel.Whatif(t), "run", "--quiet", "-o", a.file, "-p", "syscall:getppid",
				"--", program, "1")
			a.cmd, started = q.cmd, q
			a.start(t)
			return a
		},
		"attach": func() *attaching { return attach(t, busyPoints[0], busyPoints[1], strconv.Itoa(p.pid())) },
		"system": func() *attaching { return system(t, "-p", "syscall:getppid") },
	} {
		a := start()
		for second, command := range commands {
			if testing.Short() && second != beside[first] {
				continue // each is the first once, and the second once
			}
			refusal := "whatif: profiling: another whatif stops cores now: process " + strconv.Itoa(a.cmd.Process.Pid) + "\n"
			if status, said := whatif(command...); status != 125 || !strings.Contains(said, refusal) {
				t.Errorf("%s beside %s: status %d\n%s", second, first, status, said)
			}
		}
		if !testing.Short() || first == "run" {
			if status, said := whatif("attach", "-s", "0", "-p", "syscall:getppid", "-d", "200ms",
				strconv.Itoa(p.pid())); status != 0 {
				t.Errorf("attach -s 0 beside %s: status %d\n%s", first, status, said)
			}
		}
		a.cmd.Process.Kill()
		if first == "run" {
			unix.Kill(started.pid(), unix.SIGKILL) // it has whatif's stderr
		}
		a.cmd.Wait()
	}
}
