package target

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/pty"
)

// A terminal runs an interactive bash on a pseudo-terminal.
type terminal struct {
	master *os.File
	screen *lockedBuffer
	seen   int // length of the text that expect has searched
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	master, slave := pty.Open(t)
	cmd := exec.Command("bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "TERM=dumb", "HISTFILE=", "W="+whatifPath(t))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term := &terminal{master: master, screen: newBuffer()}
	go func() { _, _ = io.Copy(term.screen, master) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close() // sends SIGHUP to the remaining processes
	})
	return term
}

func (term *terminal) enter(t *testing.T, text string) {
	t.Helper()
	if _, err := term.master.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// expect waits for text after the text of the last call.
func (term *terminal) expect(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		screen := term.screen.String()
		if at := strings.Index(screen[term.seen:], text); at >= 0 {
			term.seen += at + len(text)
			return
		}
	}
	t.Fatalf("no %q on the screen within a minute:\n%s", text, term.screen.String())
}

// inFront waits until a program is in the foreground of the terminal, in a process group of its own, and runs.
func (term *terminal) inFront(t *testing.T, name string) {
	t.Helper()
	eventually(t, name+" in the foreground", func() bool {
		group, err := unix.IoctlGetInt(int(term.master.Fd()), unix.TIOCGPGRP)
		if err != nil {
			t.Fatal(err)
		}
		s, err := StatOf(group)
		return err == nil && s.Name == name && s.State != 'T'
	})
}

// The terminal echoes the command line, so the output must differ from the typed text.
const count100 = `'i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo n$i; sleep 0.05; done; exit 4'`

func TestCtrlZ(t *testing.T) {
	term := openTerminal(t)
	for range 2 {
		term.enter(t, "$W sh -c "+count100+"\n")
		term.expect(t, "n5\r\n")
		term.enter(t, "\x1a")
		term.expect(t, "Stopped")
		term.enter(t, "echo pro''mpt\n")
		term.expect(t, "prompt")
		term.enter(t, "fg\n")
		term.expect(t, "\r\nn")
		time.Sleep(3 * settle)
		term.enter(t, "\x03")
		term.expect(t, "ended 130")
		term.enter(t, "echo status $?\n")
		term.expect(t, "status 130")
	}
	term.enter(t, "jobs; echo no''ne\n")
	term.expect(t, "none")
}

// If a program stops only itself, whatif stops, too, and both continue together.
func TestProgramStopsItself(t *testing.T) {
	term := openTerminal(t)
	term.enter(t, "$W sh -c 'echo a''aa; kill -TSTP $$; echo b''bb; exit 5'\n")
	term.expect(t, "aaa\r\n")
	term.expect(t, "Stopped")
	time.Sleep(100 * time.Millisecond)
	term.enter(t, "fg\n")
	term.expect(t, "bbb\r\n")
	term.expect(t, "ended 5")
	term.enter(t, "echo status $?\n")
	term.expect(t, "status 5")
}

// One Ctrl-C reaches the program once, and whatif lives on.
func TestCtrlCOnce(t *testing.T) {
	term := openTerminal(t)
	term.enter(t, "$W bash -c 'trap \"echo got an int\" INT; trap \"echo got a quit\" QUIT; echo rea''dy; "+
		"while :; do sleep 0.05; done'\n")
	term.expect(t, "ready\r\n")
	term.enter(t, "\x03")
	term.expect(t, "got an int")
	time.Sleep(200 * time.Millisecond)
	if n := strings.Count(term.screen.String(), "got an int\r\n"); n != 1 {
		t.Errorf("the program got %d SIGINTs:\n%s", n, term.screen.String())
	}
	term.enter(t, "\x1c")
	term.expect(t, "got a quit")
	time.Sleep(200 * time.Millisecond)
	if n := strings.Count(term.screen.String(), "got a quit\r\n"); n != 1 {
		t.Errorf("the program got %d SIGQUITs:\n%s", n, term.screen.String())
	}
}

// If the program is an interactive shell, it takes the terminal and gives it back.
func TestShellAsProgram(t *testing.T) {
	term := openTerminal(t)
	term.enter(t, "$W bash --norc --noprofile --noediting -i\n")
	term.expect(t, "started")
	term.enter(t, "sleep 120\n")
	term.inFront(t, "sleep")
	term.enter(t, "\x1a")
	term.expect(t, "Stopped")
	term.enter(t, "fg\n")
	term.inFront(t, "sleep")
	term.enter(t, "\x03")
	term.inFront(t, "bash")
	term.enter(t, "echo in''ner; exit 8\n")
	term.expect(t, "inner")
	term.expect(t, "ended 8")
	term.enter(t, "echo status $?\n")
	term.expect(t, "status 8")
}

// A stop is told once. An end that comes before it was asked for is left for who waits for the end.
func TestStopSignal(t *testing.T) {
	for _, dies := range []bool{false, true} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		p := &Process{pid: pid}
		await := func(options int) {
			var info unix.Siginfo
			if err := unix.Waitid(unix.P_PID, pid, &info, options|unix.WNOWAIT, nil); err != nil {
				t.Fatal(err)
			}
		}
		unix.Kill(pid, unix.SIGSTOP)
		await(unix.WSTOPPED)
		want := unix.SIGSTOP
		if dies {
			unix.Kill(pid, unix.SIGKILL)
			await(unix.WEXITED)
			want = 0
		}
		for _, want := range []unix.Signal{want, 0} {
			if got := p.stopSignal(); got != want {
				t.Errorf("dies: %t: signal %v, want %v", dies, got, want)
			}
		}
		unix.Kill(pid, unix.SIGKILL)
		cmd.Wait()
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
			t.Errorf("dies: %t: the end is %v", dies, cmd.ProcessState)
		}
	}
}
