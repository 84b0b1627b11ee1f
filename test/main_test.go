package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// patience is how long a test waits for something that comes sooner or later: on a busy machine later.
const patience = time.Minute

func TestMain(m *testing.M) { realkernel.Main(m) }

// profiled runs a program under whatif and gives the one run of its profile, and the program's output. It must exit
// with status.
func profiled(t *testing.T, flags, program []string, status int) (*profile.Data, string) {
	t.Helper()
	return profiledWith(t, nil, flags, program, status)
}

// profiledWith is profiled with an input for the program. Programs are measured to their end.
func profiledWith(t *testing.T, stdin *os.File, flags, program []string, status int) (*profile.Data, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "whatif.profile")
	args := append([]string{"run", "--quiet", "--preserve-status", "-o", file}, flags...)
	if !slices.ContainsFunc(flags, func(f string) bool { return f == "-d" || f == "--until" || f == "--repeat" }) {
		args = append(args, "--repeat", "1")
	}
	cmd := exec.Command(realkernel.Whatif(t), append(append(args, "--"), program...)...)
	var stdout, stderr bytes.Buffer
	if stdin != nil {
		cmd.Stdin = stdin
	}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second // then processes that are left behind keep their ends of the pipes to themselves
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("%v: status %d, want %d: %v\n%s%s", cmd.Args, got, status, err, stdout.Bytes(), stderr.Bytes())
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].End == nil {
		t.Fatalf("%v: %d runs, or one without an end\n%s", cmd.Args, len(runs), stderr.Bytes())
	}
	return runs[0], stdout.String()
}

// runUntil profiles a program that does not end by itself until its profile has enough, and then ends both.
func runUntil(t *testing.T, what string, enough func(*profile.Data) bool, flags []string, program ...string) {
	t.Helper()
	a := &attaching{file: filepath.Join(t.TempDir(), "whatif.profile")}
	args := append([]string{"run", "--quiet", "-o", a.file}, flags...)
	a.cmd = exec.Command(realkernel.Whatif(t), append(append(args, "--"), program...)...)
	a.start(t)
	a.until(t, what, enough)
	if err := a.cmd.Process.Signal(unix.SIGTERM); err != nil { // the program gets it from whatif
		t.Fatal(err)
	}
	if a.cmd.Wait(); a.cmd.ProcessState.ExitCode() != terminated {
		t.Errorf("%v: %v\n%s", a.cmd.Args, a.cmd.ProcessState, a.said.String())
	}
}

// until waits until the profile has enough.
func (a *attaching) until(t *testing.T, what string, enough func(*profile.Data) bool) {
	t.Helper()
	awaitUntil(t, what, func() bool {
		runs, err := profile.ReadFiles([]string{a.file})
		if err != nil || len(runs) != 1 {
			t.Fatalf("%v: %d runs, %v\n%s", a.cmd.Args, len(runs), err, a.said.String())
		}
		return enough(runs[0])
	})
}

// spedUp are the experiments in which code is virtually faster.
func spedUp(data *profile.Data) (all []profile.Experiment) {
	for _, e := range data.Experiments {
		if !e.IsBaseline() && !data.IsPlacebo(&e) {
			all = append(all, e)
		}
	}
	return all
}

// socketPair makes two sockets that are connected.
func socketPair(t *testing.T) (one, other *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fds[0]), "one"), os.NewFile(uintptr(fds[1]), "other")
}
