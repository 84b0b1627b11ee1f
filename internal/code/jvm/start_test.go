package jvm

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStrangerListens: a VM that starts when whatif has ended does not obey another user in its place.
func TestStrangerListens(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed")
	}
	dir, err := os.MkdirTemp("/tmp", "stranger")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	agent, socket := filepath.Join(dir, agentFile), filepath.Join(dir, agentSocket)
	if err := os.WriteFile(agent, Library(), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		uid  int
		want bool // it is heard
	}{{0, true}, {12345, false}} {
		l := listenAs(t, c.uid, socket)
		heard := make(chan int, 1)
		go func() {
			defer close(heard)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			n, _ := conn.Read(make([]byte, 10)) // then the connection ends, and the VM goes on
			heard <- n
		}()
		cmd := exec.Command(java, "-version")
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+agent, "WHATIF_JAVA="+agent+"=points:"+socket)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(strings.ToLower(string(out)), "version") {
			t.Errorf("%v: %s", err, out)
		}
		select {
		case n, ok := <-heard:
			if !ok || n > 0 != c.want {
				t.Errorf("user %d is told %d bytes, %t", c.uid, n, ok)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("user %d: nothing connects", c.uid)
		}
		l.Close()
		os.Remove(socket)
	}
}

// listenAs listens as another user.
func listenAs(t *testing.T, uid int, path string) net.Listener {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // which ends with the goroutine
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
			done <- errno
			return
		}
		done <- unix.Listen(fd, 2)
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
