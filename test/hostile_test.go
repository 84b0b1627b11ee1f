package test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// hostile starts a program that works against whatif, until the test ends, and waits until it is ready.
func hostile(t *testing.T, program string, args ...string) (pid int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%s: %q, %v", program, line, err)
	}
	return cmd.Process.Pid
}

// attachedAtRest attaches to a process for half a second, stops nothing, and gives the run and the most memory that
// whatif had, in MiB.
func attachedAtRest(t *testing.T, flags ...string) (*profile.Data, int64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "whatif.profile")
	cmd := exec.Command(realkernel.Whatif(t),
		append([]string{"attach", "--quiet", "-o", file, "-s", "0", "-d", "0.5", "-p", "func:round_done"}, flags...)...)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if took := time.Since(begin); took > patience {
		t.Errorf("%v took %v", cmd.Args, took)
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[0], cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
}

// A process can say that its command line is all of its memory. Neither attaching to it nor looking for processes by
// name reads all of that, and the profile stays small.
func TestHostileWords(t *testing.T) {
	realkernel.NeedBeside(t)
	pid := strconv.Itoa(hostile(t, realkernel.Compile(t, "testdata/words.c")))
	for _, flags := range [][]string{{pid}, {"--name", "words*", pid}} {
		run, memory := attachedAtRest(t, flags...)
		words := 0
		for _, word := range run.Run.Args {
			words += len(word)
		}
		if memory > 512 || words > 1<<20 || run.Run.Args[0] == "" {
			t.Errorf("%v: %d MiB of memory, %d bytes of arguments", flags, memory, words)
		}
		if run.End == nil || run.End.Visits[0] == 0 {
			t.Errorf("%v: no visits", flags)
		}
	}
}
