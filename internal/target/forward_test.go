package target

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A session is a small whatif that runs, with its output.
type session struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
	pid   int // of the program
}

// begin starts whatif without a terminal and waits for the program's first line, "ready".
func begin(t *testing.T, how string, args ...string) *session {
	t.Helper()
	cmd := whatif(t, how, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	s := &session{cmd: cmd, lines: bufio.NewReader(r)}
	t.Cleanup(func() {
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		_ = cmd.Wait()
		r.Close()
	})
	_ = r.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := fmt.Sscanf(s.expect(t, "started"), "started %d", &s.pid); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "ready")
	return s
}

// expect reads up to a line with a prefix, and returns that line.
func (s *session) expect(t *testing.T, prefix string) string {
	t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q: %v", prefix, err)
		}
		if strings.HasPrefix(line, prefix) {
			return line
		}
	}
}

func (s *session) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// end waits for whatif's end, and returns the exit status that a shell would report.
func (s *session) end() int {
	_, _ = io.Copy(io.Discard, s.lines)
	_ = s.cmd.Wait()
	ws := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

const trapAll = `for s in HUP INT QUIT TERM USR1 USR2 WINCH ALRM PWR RTMIN+5; do trap "echo got $s" $s; done
trap 'exit 9' RTMIN+6
echo ready; while :; do sleep 0.02; done`

func TestForwardsWithoutTerminal(t *testing.T) {
	s := begin(t, "", "bash", "-c", trapAll)
	for _, sig := range []struct {
		number syscall.Signal
		name   string
	}{
		{unix.SIGHUP, "HUP"}, {unix.SIGINT, "INT"}, {unix.SIGQUIT, "QUIT"}, {unix.SIGTERM, "TERM"}, {unix.SIGUSR1, "USR1"},
		{unix.SIGUSR2, "USR2"}, {unix.SIGWINCH, "WINCH"}, {unix.SIGALRM, "ALRM"}, {unix.SIGPWR, "PWR"}, {39, "RTMIN+5"},
	} {
		s.send(t, sig.number)
		s.expect(t, "got "+sig.name)
	}
	s.send(t, unix.SIGPIPE) // whatif ignores it
	s.send(t, 40)
	s.expect(t, "ended 9")
	if status := s.end(); status != 9 {
		t.Errorf("status %d", status)
	}
}

func TestForwardedSignalEndsBoth(t *testing.T) {
	s := begin(t, "", "sh", "-c", "echo ready; exec sleep 60")
	s.send(t, unix.SIGTERM)
	if status := s.end(); status != 143 {
		t.Errorf("status %d", status)
	}
}

// After the program's end the first Ctrl-C has no effect, and the second one ends whatif.
func TestInterruptAfterTheEnd(t *testing.T) {
	s := begin(t, "late", "sh", "-c", "echo ready; exit 3")
	s.expect(t, "ended 3")
	time.Sleep(20 * time.Millisecond)
	s.send(t, unix.SIGINT)
	s.expect(t, "written")
	if status := s.end(); status != 3 {
		t.Errorf("after one: status %d", status)
	}

	s = begin(t, "later", "sh", "-c", "echo ready; exit 3")
	s.expect(t, "ended 3")
	ended := make(chan struct{})
	defer close(ended)
	go func() { // two that come at once are one
		for {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
				_ = s.cmd.Process.Signal(unix.SIGINT)
			}
		}
	}()
	if status := s.end(); status != 130 {
		t.Errorf("after two or more: status %d", status)
	}
}

func TestNohup(t *testing.T) {
	s := begin(t, "", "sh", "-c", "trap '' HUP; exec "+whatifPath(t)+" sh -c 'echo ready; sleep 0.2; exit 6'")
	s.send(t, unix.SIGHUP)
	_ = s
	// The outer whatif sends SIGHUP on to the inner one, which was started with SIGHUP ignored.
	if status := s.end(); status != 6 {
		t.Errorf("status %d", status)
	}
}

// SIGINT and SIGTERM always ask for the end. SIGHUP and SIGQUIT do if the program ended by them.
func TestInterrupted(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	for _, c := range []struct {
		name   string
		signal os.Signal      // sent to whatif
		before time.Duration  // from the signal to the program's end
		by     syscall.Signal // ended the program
		done   chan struct{}
		want   bool
	}{
		{"nobody asks", nil, 0, 0, ended, false},
		{"SIGTERM", unix.SIGTERM, time.Hour, 0, ended, true},
		{"SIGTERM, and it runs on", unix.SIGTERM, time.Hour, 0, make(chan struct{}), false},
		{"SIGINT", unix.SIGINT, time.Second, 0, ended, true},
		{"SIGHUP, which it took for something else", unix.SIGHUP, time.Minute, 0, ended, false},
		{"SIGHUP, and it tidied up", unix.SIGHUP, time.Second, 0, ended, true},
		{"SIGQUIT of its own", nil, 0, unix.SIGQUIT, ended, true},
		{"SIGUSR1", unix.SIGUSR1, time.Second, unix.SIGUSR1, ended, false},
	} {
		p := Process{done: c.done, ended: time.Now().Add(c.before), state: ExitState{Signal: c.by}}
		if c.signal != nil {
			p.note(c.signal)
		}
		if got := p.Interrupted(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
