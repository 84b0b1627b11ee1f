package openfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// place makes a directory that everybody may enter, with a file that everybody may read and one that only root may
// read.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"plain": 0o644, "secret": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "private"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "private", "plain"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "plain", "leak": "secret", "out": "../../etc/passwd"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// opens opens a file by its name, checks its contents, and returns the error.
func opens(t *testing.T, r Rights, root, path string) error {
	t.Helper()
	f, err := Regular(r, root, path)
	if err == nil {
		if text, err := io.ReadAll(f); err != nil || string(text) != "x" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
		f.Close()
	}
	return err
}

// TestNothingElseIsOpened checks that names of pipes, devices, directories and empty files are refused.
func TestNothingElseIsOpened(t *testing.T) {
	dir := place(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	names := []string{at("fifo"), at("empty"), dir, "/proc/self/environ", "/proc/self/maps"}
	if err := unix.Mknod(at("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err == nil {
		names = append(names, at("null"))
		if err := os.Symlink("null", at("tonull")); err != nil {
			t.Fatal(err)
		}
		names = append(names, at("tonull"))
	} else if os.Geteuid() == 0 {
		t.Log(err)
	}
	for _, r := range []Rights{Own(), Invoker(), Owner(uint32(os.Geteuid())), Owner(Nobody), {}} {
		for _, name := range names {
			if err := opens(t, r, "", name); !errors.Is(err, ErrNotRegular) && !errors.Is(err, unix.EACCES) {
				t.Errorf("%+v, %s: %v", r, name, err)
			}
			if err := opens(t, r, dir, filepath.Base(name)); err == nil {
				t.Errorf("%+v, %s below a root was opened", r, name)
			}
		}
	}
}

// TestDeviceIsNotOpened checks that a device is not opened to find out that it is a device. The device is a terminal:
// if it is opened and closed, its master side sees a hang-up.
func TestDeviceIsNotOpened(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	name := "/dev/pts/" + itoa(n)
	hangUp := func() bool {
		p := []unix.PollFd{{Fd: int32(master.Fd()), Events: unix.POLLIN}}
		if _, err := unix.Poll(p, 0); err != nil {
			t.Fatal(err)
		}
		return p[0].Revents&unix.POLLHUP != 0
	}
	if err := opens(t, Own(), "", name); !errors.Is(err, ErrNotRegular) || hangUp() {
		t.Errorf("%v; it was opened: %v", err, hangUp())
	}
	// If it is opened, the hang-up is seen.
	if f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOCTTY, 0); err == nil {
		if f.Close(); !hangUp() {
			t.Error("a terminal that was opened shows nothing of it")
		}
	}
}

func itoa(n int) string { return filepath.Base(Path(n)) }

// TestRights checks that a name leads only to files that the owner of the rights may open.
func TestRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has others' rights")
	}
	dir := place(t)
	for name, nobodyMay := range map[string]bool{
		"plain": true, "link": true, "secret": false, "leak": false, "private/plain": false,
	} {
		for _, root := range []string{"", dir} {
			path := name
			if root == "" {
				path = filepath.Join(dir, name)
			}
			if err := opens(t, Own(), root, path); err != nil {
				t.Errorf("root, %s: %v", name, err)
			}
			if err := opens(t, Owner(0), root, path); err != nil {
				t.Errorf("a file of root's, %s: %v", name, err)
			}
			for _, r := range []Rights{Owner(Nobody), Owner(4_000_000), {}} {
				if err := opens(t, r, root, path); (err == nil) != nobodyMay || err != nil && !errors.Is(err, unix.EACCES) {
					t.Errorf("%+v, %s: %v", r, name, err)
				}
			}
		}
	}
	// Names do not lead through whatif's own descriptors.
	f, err := os.Open(filepath.Join(dir, "private", "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := opens(t, Own(), "", Path(int(f.Fd()))); err != nil {
		t.Error(err)
	}
	if err := opens(t, Owner(0), "", Path(int(f.Fd()))); err == nil {
		t.Error("a name led through a descriptor of whatif's own")
	}
	if err := opens(t, Owner(Nobody), dir, "out"); err == nil {
		t.Error("a link led out of the root")
	}
	// Afterwards root has its own rights again.
	if err := opens(t, Own(), "", filepath.Join(dir, "secret")); err != nil {
		t.Errorf("root's rights are gone: %v", err)
	}
}

// TestLease checks that opening a file does not wait for another process that has a lease on it.
func TestLease(t *testing.T) {
	dir := place(t)
	f, err := os.OpenFile(filepath.Join(dir, "plain"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip(err)
	}
	began := time.Now()
	if err := opens(t, Own(), "", filepath.Join(dir, "plain")); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("%v", err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("waited for %v", d)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
		t.Error(err)
	}
}

// TestNamed opens what a user may name: files and pipes, also by links, and no device but /dev/null.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	link := func(to string) string {
		path := filepath.Join(dir, strings.ReplaceAll(to, "/", "_"))
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for path, want := range map[string]error{
		plain: nil, link(plain): nil, Path(int(r.Fd())): nil, os.DevNull: nil, link("/dev/zero"): ErrDevice,
		"/dev/tty": ErrDevice, link("/dev/full"): ErrDevice, dir + "/none": unix.ENOENT,
	} {
		f, err := Named(path)
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// TestOwnFile opens what a process's user has made, and nothing that others can have planted.
func TestOwnFile(t *testing.T) {
	dir, uid := place(t), uint32(os.Geteuid())
	if err := os.Link(filepath.Join(dir, "secret"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"/plain": nil, "/link": ErrPlanted, "/leak": ErrPlanted, "/out": ErrPlanted, "/other": ErrPlanted,
		"/fifo": ErrNotRegular, "/private": ErrNotRegular, "/none": unix.ENOENT, "/private/plain": nil,
		"/../../plain": nil, // the root directory is its own parent
	} {
		f, err := OwnFile(uid, dir, name)
		if err == nil {
			f.Close()
		}
		if name == "/private" && errors.Is(err, ErrPlanted) {
			continue // a directory has several names
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := OwnFile(uid+1, dir, "/plain"); !errors.Is(err, ErrPlanted) && !errors.Is(err, unix.EACCES) {
		t.Errorf("another user's file: %v", err)
	}
}
