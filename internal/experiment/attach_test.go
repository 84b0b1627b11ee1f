package experiment

import (
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
)

// Of a process that is stopped nothing is seen, and that is said.
func TestStoppedIsSaid(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	pid := sleeper.Process.Pid
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	a := &attachedTo{all: []target.Running{{PID: pid}}}
	said := func() string {
		var b strings.Builder
		a.warnOfStopped(slog.New(slog.NewTextHandler(&b, nil)))
		return b.String()
	}
	if got := said(); got != "" {
		t.Errorf("of one that runs: %s", got)
	}
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for s := (target.Stat{}); s.State != 'T'; time.Sleep(time.Millisecond) {
		var err error
		if s, err = target.StatOf(pid); err != nil {
			t.Fatal(err)
		}
	}
	remedy := "kill -CONT " + strconv.Itoa(pid)
	if got := said(); !strings.Contains(got, "(sleep) is stopped") || !strings.Contains(got, remedy) {
		t.Errorf("of one that is stopped: %s", got)
	}
}
