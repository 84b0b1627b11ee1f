package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// small is a profile with a single experiment.
const (
	small = `{"run":{"version":1,"id":"a","started":"2026-01-02T03:04:05Z","args":["server"],"host":"h",` +
		`"kernel":"6.7","cpus":2,"period_ns":1000000,"seed":1,"speedups":[50],` +
		`"points":[{"name":"done","kind":"func","spec":"func:done"}]}}
{"unit":{"id":1,"kind":"line","name":"a.c:3","file":"/a.c","line":3,"func":"f","binary":"/server"}}
{"experiment":{"n":0,"start_ns":0,"unit":0,"speedup":0,` + smallCounts + `}}
{"experiment":{"n":1,"start_ns":200000000,"unit":1,"speedup":50,` + smallCounts + `}}
`
	smallCounts = `"real_ns":200000000,"delay_ns":0,"points":[{"count":10,"weight":8,"window_ns":100000000}],` +
		`"samples":200,"unit_samples":{"1":100},"paused_ns":0,"unpaid_ns":0`
)

var pageAddress = regexp.MustCompile(`http://\S+/`)

// A viewing is a command that shows a page.
type viewing struct {
	*testing.T
	command string
	cmd     *exec.Cmd
	lines   *bufio.Scanner
	said    string // the command's stderr so far
}

// start starts a command that shows a page. A command that hangs gets SIGINT, and later SIGKILL.
func start(t *testing.T, dir, command string) *viewing {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	v := &viewing{T: t, command: command, cmd: exec.CommandContext(ctx, "sh", "-c", "exec "+command)}
	v.cmd.Dir = dir
	v.cmd.Env = append(os.Environ(), "DISPLAY=", "WAYLAND_DISPLAY=",
		fmt.Sprintf("PATH=%s:%s", filepath.Dir(realkernel.Whatif(t)), os.Getenv("PATH")))
	v.cmd.Cancel = func() error { return v.cmd.Process.Signal(syscall.SIGINT) }
	v.cmd.WaitDelay = 10 * time.Second
	stderr, err := v.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.lines = bufio.NewScanner(stderr)
	return v
}

// address reads stderr up to a line that has the words, and returns the address in that line.
func (v *viewing) address(words string) string {
	v.Helper()
	for v.lines.Scan() {
		v.said += v.lines.Text() + "\n"
		if strings.Contains(v.lines.Text(), words) {
			return pageAddress.FindString(v.lines.Text())
		}
	}
	v.cmd.Wait()
	v.Fatalf("%s: nothing of %q:\n%s", v.command, words, v.said)
	return ""
}

// end sends the command SIGINT, and waits for its end.
func (v *viewing) end(status int) {
	v.Helper()
	if err := v.cmd.Process.Signal(syscall.SIGINT); err != nil {
		v.Error(err)
	}
	for v.lines.Scan() {
		v.said += v.lines.Text() + "\n"
	}
	err := v.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || v.cmd.ProcessState.ExitCode() != status {
		v.Errorf("%s: ended with %v, want status %d:\n%s", v.command, err, status, v.said)
	}
}

// view runs a command that shows a page, gets the page as soon as a line of stderr has the words, and ends the command
// with SIGINT. It returns the page and the command's stderr.
func view(t *testing.T, dir, command, words string, status int) (page, said string) {
	t.Helper()
	v := start(t, dir, command)
	address := v.address(words)
	answer, err := http.Get(address)
	if err != nil {
		t.Error(err)
	} else {
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if page = string(body); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", command, address, answer.Status)
		}
	}
	v.end(status)
	return page, v.said
}

// TestView checks that view serves a page until Ctrl-C.
func TestView(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"whatif.profile", "old.profile"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(small), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, said := view(t, dir, "whatif view", "the page is at", 0)
	if !strings.Contains(page, `"name":"a.c:3"`) || strings.Count(said, "\n") != 2 {
		t.Errorf("page of %d bytes; said:\n%s", len(page), said)
	}
	// Without a display, view prints the command that forwards the page to another machine.
	words := regexp.MustCompile(`: ssh -L (\d+):127\.0\.0\.1:(\d+) \S+@\S+\n$`).FindStringSubmatch(said)
	if words == nil || words[1] != words[2] || !strings.Contains(said, "http://127.0.0.1:"+words[1]+"/") {
		t.Errorf("no line for ssh:\n%s", said)
	}
	page, _ = view(t, dir, "whatif view --compare old.profile whatif.profile", "the page is at", 0)
	if !strings.Contains(page, `"label":"old.profile"`) {
		t.Error("compared with nothing")
	}
}

// TestViewPort checks --port, and the command that view prints for another machine.
func TestViewPort(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "whatif.profile"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	taken := exec.Command(realkernel.Whatif(t), "view", "--port", fmt.Sprint(port), filepath.Join(dir, "whatif.profile"))
	out, err := taken.CombinedOutput()
	if taken.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), fmt.Sprintf("listening on port %d ", port)) {
		t.Errorf("a port that is taken: %v\n%s", err, out)
	}
	l.Close()
	command := fmt.Sprintf("env DISPLAY=:0 PATH=$(dirname $(command -v whatif)) "+
		"SSH_CONNECTION='198.51.100.7 50000 192.0.2.1 2222' whatif view --port %d", port)
	page, said := view(t, dir, command, "the page is at", 0)
	forward := fmt.Sprintf(": ssh -L %d:127.0.0.1:%d -p 2222 ", port, port)
	if !strings.Contains(page, `"name":"a.c:3"`) || !strings.Contains(said, forward) ||
		!strings.HasSuffix(said, "@192.0.2.1\n") {
		t.Errorf("page of %d bytes; said:\n%s", len(page), said)
	}
	// With a display on this machine there is nothing to forward.
	_, said = view(t, dir, "env -u SSH_CONNECTION DISPLAY=:0 whatif view --no-browser", "the page is at", 0)
	if strings.Contains(said, "ssh") {
		t.Errorf("with a display:\n%s", said)
	}
	for _, wrong := range []string{"-1", "65536", "x"} {
		cmd := exec.Command(realkernel.Whatif(t), "view", "--port", wrong)
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("port %s: %v\n%s", wrong, err, out)
		}
	}
}
