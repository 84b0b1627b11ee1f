package experiment

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/realkernel"
	"whatif/internal/target"
)

// When the time is up all ends that the program has started, but for what has left its process group: also where the
// program ends sooner than that, and where it does not pass on that it is to end.
func TestLeftovers(t *testing.T) {
	realkernel.Need(t)
	for _, last := range []string{"exit 0", "sleep 60"} {
		script := "{ while sleep 0.02; do :; done 3>&- & echo $! >&3; setsid sleep 60 3>&- & echo $! >&3; } 3>&1 >/dev/null 2>&1; " + last
		status := 143
		if last == "exit 0" {
			status = 0
		}
		_, said := profiled(t, []string{"-p", "syscall:clock_nanosleep", "-d", "1s"}, []string{"sh", "-c", script + " >/dev/null 2>&1"}, status)
		var sleep, daemon int
		if n, err := fmt.Sscan(said, &sleep, &daemon); n != 2 {
			t.Fatalf("%q: %v", said, err)
		}
		defer unix.Kill(daemon, unix.SIGKILL)
		ended := func(pid int) bool { s, err := target.StatOf(pid); return err != nil || s.Ended() }
		for end := time.Now().Add(5 * time.Second); !ended(sleep) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		if !ended(sleep) {
			unix.Kill(sleep, unix.SIGKILL)
			t.Errorf("%s: what it has left in its process group goes on", last)
		}
		if ended(daemon) {
			t.Errorf("%s: what has left its process group was ended, too", last)
		}
	}
}

// Who does not end when he is told to is named, and the user is told how to end him; if it is the program, it is waited for.
func TestStubborn(t *testing.T) {
	realkernel.Need(t)
	const stubborn = "trap '' TERM; for i in $(seq 600); do sleep 0.02; done" // 12 s, if nobody ends it
	endStubborn(t, stubborn, 137)
	endStubborn(t, "{ "+stubborn+"; } & exit 0", 0)
}

func endStubborn(t *testing.T, script string, status int) {
	t.Helper()
	cmd := exec.Command(realkernel.Whatif(t), "run", "-o", filepath.Join(t.TempDir(), "whatif.profile"), "-p", "syscall:clock_nanosleep", "-d", "1s", "--",
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
		if _, after, ok := strings.Cut(lines.Text(), "kill -KILL "); ok {
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
