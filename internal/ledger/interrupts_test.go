package ledger

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// A tool that reads the kernel's trace of the target is woken by an interrupt in the target, not by the target itself.
// So it is no outsider that deals with the target.
func TestReadersOfTracesAreNoPartners(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	// It computes in between: else its reader would always have something to read, and never sleep.
	target := exec.Command("sh", "-c", "while :; do umask 22; i=0; while [ $i -lt 300 ]; do i=$((i+1)); done; done")
	if err := target.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { target.Process.Kill(); target.Wait() }()
	if err := l.Join([]Process{{PID: target.Process.Pid}}); err != nil {
		t.Fatal(err)
	}
	// A trace buffer of this test's own, for one event.
	buffer := filepath.Join("/sys/kernel/tracing/instances", "whatif-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(buffer, 0o755); errors.Is(err, os.ErrNotExist) {
		t.Skip("tracefs is not mounted")
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.Remove(buffer); err != nil {
			t.Error(err)
		}
	}()
	set := func(file, to string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(buffer, file), []byte(to), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set("set_event_pid", strconv.Itoa(target.Process.Pid))
	pipe, err := os.Open(filepath.Join(buffer, "trace_pipe"))
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	reader := exec.Command("cat")
	reader.Stdin = pipe
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { reader.Process.Kill(); reader.Wait() }()
	set("events/raw_syscalls/sys_enter/enable", "1")
	defer set("events/raw_syscalls/sys_enter/enable", "0")
	time.Sleep(300 * time.Millisecond)
	if n := sleeps(t, reader.Process.Pid); n < 10 {
		t.Fatalf("the reader was woken %d times only", n)
	}
	fd, err := unix.PidfdOpen(reader.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	account := make([]byte, l.maps.Outsiders.ValueSize())
	if err := l.maps.Outsiders.Lookup(uint32(fd), &account); !errors.Is(err, ebpf.ErrKeyNotExist) {
		t.Errorf("the reader of traces is taken for an outsider that deals with the target: %v, %v", account, err)
	}
}

// sleeps is how often a process has gone to sleep.
func sleeps(t *testing.T, pid int) (n int) {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatalf("%v in %s", err, status)
	}
	return n
}
