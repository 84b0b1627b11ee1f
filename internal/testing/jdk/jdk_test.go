package jdk

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that another process has locked is not left. Left waits for a minute before it says that one is left,
// so this is asked of the table of locks only.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	by := func() int {
		t.Helper()
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil {
			t.Fatal(err)
		}
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		return lockedBy(string(locks), st.Ino)
	}
	if pid := by(); pid != 0 {
		t.Errorf("a new directory is locked by process %d", pid)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if pid := by(); pid != os.Getpid() {
		t.Errorf("it is locked by process %d, not by this one", pid)
	}
	f.Close()
	other := exec.Command("flock", dir, "sh", "-c", "echo; read end")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if left := Left(t, dir); len(left) > 0 {
		t.Errorf("%v is left, and another process uses it", left)
	}
	in.Close()
	other.Wait() // read fails at the end of its input
}
