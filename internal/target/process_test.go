package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		script string
		status int
		signal syscall.Signal
	}{
		{"exit 0", 0, 0},
		{"exit 7", 7, 0},
		{"exit 255", 255, 0},
		{"kill -TERM $$", 143, unix.SIGTERM},
		{"kill -KILL $$", 137, unix.SIGKILL},
		{"kill -SEGV $$", 139, unix.SIGSEGV},
		{"(until grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done; kill -CONT $$) & kill -STOP $$; exit 3", 3, 0},
	} {
		_, state := run(t, Config{Args: []string{"sh", "-c", test.script}})
		if state.Status != test.status || state.Signal != test.signal || state.Err != nil {
			t.Errorf("%s: %+v", test.script, state)
		}
	}
}

func TestStopsBeforeFirstInstruction(t *testing.T) {
	stamp := t.TempDir() + "/stamp"
	p, err := Start(Config{Args: []string{"sh", "-c", "echo > " + stamp}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	time.Sleep(50 * time.Millisecond)
	if _, err := os.Stat(stamp); err == nil {
		t.Fatal("the program ran before Release")
	}
	if state, err := processState(p.PID()); err != nil || state != 't' {
		t.Errorf("state %c, %v", state, err)
	}
	if path, err := BinaryOf(p.PID()); err != nil || !strings.HasSuffix(path, "sh") {
		t.Errorf("it is not the program yet: %s, %v", path, err)
	}
	// The dynamic linker has mapped nothing yet: only the program and the linker are mapped.
	maps, err := Maps(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, m := range maps {
		files[m.Path] = true
	}
	if len(files) == 0 || len(files) > 2 {
		t.Errorf("mapped files before the first instruction: %v", files)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Errorf("a second Release: %v", err)
	}
	if state := p.Wait(); state.Status != 0 {
		t.Errorf("%+v", state)
	}
	if _, err := os.Stat(stamp); err != nil {
		t.Error(err)
	}
}

// A static program without libc has not executed its first instruction before Release.
func TestStopsBeforeFirstInstructionStatic(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs gcc on amd64")
	}
	dir := t.TempDir()
	source := `
		.globl _start
		_start: mov $1, %eax; mov $1, %edi; lea text(%rip), %rsi; mov $3, %edx; syscall
		mov $60, %eax; mov $5, %edi; syscall
		text: .ascii "ran"
		`
	if err := os.WriteFile(dir+"/p.s", []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-nostdlib", "-static", "-o", dir+"/p", dir+"/p.s").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Config{Args: []string{dir + "/p"}, Stdout: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_ = r.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	buf := make([]byte, 8)
	if n, err := r.Read(buf); n > 0 || !os.IsTimeout(err) {
		t.Fatalf("it wrote %q, %v before Release", buf[:n], err)
	}
	_ = r.SetReadDeadline(time.Time{})
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if n, _ := r.Read(buf); string(buf[:n]) != "ran" {
		t.Errorf("wrote %q", buf[:n])
	}
	if state := p.Wait(); state.Status != 5 {
		t.Errorf("%+v", state)
	}
}

func TestCloseKillsTheUnreleased(t *testing.T) {
	p, err := Start(Config{Args: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if state := p.Wait(); state.Signal != unix.SIGKILL {
		t.Errorf("%+v", state)
	}
	if err := unix.Kill(p.PID(), 0); err != unix.ESRCH {
		t.Errorf("the process is still there: %v", err)
	}
}

func TestKilledBeforeRelease(t *testing.T) {
	p, err := Start(Config{Args: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if state := p.Wait(); state.Status != 137 {
		t.Errorf("%+v", state)
	}
	if err := p.Release(); err != nil {
		t.Error(err)
	}
	if err := p.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
}

func TestSignalBeforeReleaseWaits(t *testing.T) {
	p, err := Start(Config{Args: []string{"sleep", "60"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	if state := p.Wait(); state.Signal != unix.SIGTERM {
		t.Errorf("%+v", state)
	}
}

func TestPIDFD(t *testing.T) {
	p, err := Start(Config{Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.PIDFD()))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(info), fmt.Sprintf("\nPid:\t%d\n", p.PID())) {
		t.Errorf("fdinfo %q", info)
	}
}

func TestManyStarts(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 50
	}
	one := func() {
		p, err := Start(Config{Args: []string{"true"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Release(); err != nil {
			t.Fatal(err)
		}
		if state := p.Wait(); state.Status != 0 {
			t.Fatalf("%+v", state)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		one()
	}
	files, threads := count(t, "/proc/self/fd"), count(t, "/proc/self/task")
	begin := time.Now()
	for range n {
		one()
	}
	t.Logf("%v a start, run and end", time.Since(begin)/time.Duration(n))
	// The thread that outlives a program closes its pidfd a moment after the program's end.
	eventually(t, "no more files than before", func() bool { return count(t, "/proc/self/fd") <= files })
	eventually(t, "no more threads than before", func() bool { return count(t, "/proc/self/task") <= threads+2 })
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// If whatif is killed, the program runs to its end: both before the program's first instruction, and while it runs.
func TestSurvivesWhatif(t *testing.T) {
	for _, how := range []string{"hold", ""} {
		done := t.TempDir() + "/done"
		cmd := whatif(t, how, "sh", "-c", "sleep 0.3; echo > "+done)
		// With a pipe that os/exec makes, Wait would also wait for sh.
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		var pid int
		if _, err := fmt.Fscanf(r, "started %d\n", &pid); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		eventually(t, "the program finishes ("+how+")", func() bool {
			_, err := os.Stat(done)
			return err == nil
		})
		r.Close()
	}
}

// If whatif is killed at any moment of a start, either a running program is left or no process at all.
func TestKilledWhileStarting(t *testing.T) {
	n := 60
	if testing.Short() {
		n = 10
	}
	dir := t.TempDir()
	mark := fmt.Sprintf("mark-%d", os.Getpid())
	for i := range n {
		cmd := whatif(t, "", "sh", "-c", "echo >"+filepath.Join(dir, fmt.Sprint(i))+"; exit 0", mark)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 20 * time.Millisecond / time.Duration(n))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.Logf("%d of %d programs ran", count(t, dir), n)
	eventually(t, "no process is left", func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, line := range lines {
			text, _ := os.ReadFile(line)
			if strings.HasSuffix(string(text), "\x00"+mark+"\x00") || strings.HasPrefix(string(text), stageName) {
				return false
			}
		}
		return true
	})
}

func TestSetting(t *testing.T) {
	got := setting([]string{"A=1", "NODE_OPTIONS=old", "B=2", "AB=3"}, []string{"NODE_OPTIONS=old new", "C=4"})
	if want := []string{"A=1", "B=2", "AB=3", "NODE_OPTIONS=old new", "C=4"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
