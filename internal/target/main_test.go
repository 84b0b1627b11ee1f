package target

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buildWhatif builds the small whatif of testdata. The test binary itself would not do: go test strips the symbols that
// runtimeSignals needs.
var buildWhatif = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/var/tmp", "whatif-test")
	if err != nil {
		return "", err
	}
	tempDirs = append(tempDirs, dir)
	if err := os.Chmod(dir, 0o755); err != nil { // for user nobody
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", dir+"/whatif", "./testdata/whatif").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building testdata/whatif: %w: %s", err, out)
	}
	return dir + "/whatif", nil
})

var tempDirs []string

func TestMain(m *testing.M) {
	Main()
	// The tests may have been started with ignored signals, by nohup or a CI's shell in the background. A signal that is
	// caught here has its default action in children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	status := m.Run()
	for _, dir := range tempDirs {
		os.RemoveAll(dir)
	}
	os.Exit(status)
}

func whatifPath(t *testing.T) string {
	t.Helper()
	path, err := buildWhatif()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// whatif makes a command of the small whatif; how is the value of TEST_HOW.
func whatif(t *testing.T, how string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(whatifPath(t), args...)
	cmd.Env = append(os.Environ(), "TEST_HOW="+how)
	return cmd
}

// run runs a program to its end, and returns its output and state.
func run(t *testing.T, cfg Config) (string, ExitState) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cfg.Stdout = w
	p, err := Start(cfg)
	w.Close()
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	defer p.Close()
	if err := p.Release(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), p.Wait()
}

// field returns the value of a line such as "CapEff:\t0000" in the text of /proc/PID/status.
func field(t *testing.T, status, name string) string {
	t.Helper()
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no %s in %q", name, status)
	return ""
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// script writes an executable file.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually fails the test if cond does not become true within a minute. Only a busy machine needs more than moments.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("not within a minute: %s", what)
}

// A lockedBuffer can be read while a command writes to it.
type lockedBuffer struct {
	lock chan struct{}
	buf  bytes.Buffer
}

func newBuffer() *lockedBuffer { return &lockedBuffer{lock: make(chan struct{}, 1)} }

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.lock <- struct{}{}
	defer func() { <-b.lock }()
	return b.buf.String()
}
