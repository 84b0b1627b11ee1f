package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

const (
	caller   = 65534 // the user who called sudo
	stranger = 4711  // another user
)

// needRoot makes a directory of root that everybody may enter.
func needRoot(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	check(t, os.Chmod(filepath.Dir(dir), 0o755))
	check(t, os.Chmod(dir, 0o755))
	return dir
}

// underSudo makes the test run as if uid had called sudo; 0: in a root shell.
func underSudo(t *testing.T, uid int) {
	t.Helper()
	for _, name := range []string{"SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "")
	}
	if uid != 0 {
		t.Setenv("SUDO_UID", fmt.Sprint(uid))
		t.Setenv("SUDO_GID", fmt.Sprint(uid))
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// mkdir makes a directory of user uid.
func mkdir(t *testing.T, path string, uid int, mode os.FileMode) string {
	t.Helper()
	check(t, os.Mkdir(path, 0o700), os.Chown(path, uid, uid), os.Chmod(path, mode))
	return path
}

// file makes a file of user uid with some text.
func file(t *testing.T, path string, uid int, mode os.FileMode, text string) string {
	t.Helper()
	check(t, os.WriteFile(path, []byte(text), 0o600), os.Chown(path, uid, uid), os.Chmod(path, mode))
	return path
}

// link makes a symbolic link of user uid.
func link(t *testing.T, to, path string, uid int) {
	t.Helper()
	check(t, os.Symlink(to, path), os.Lchown(path, uid, uid))
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// about describes a file: owner:group mode.
func about(t *testing.T, path string) string {
	t.Helper()
	var st unix.Stat_t
	check(t, unix.Lstat(path, &st))
	return fmt.Sprintf("%d:%d %o", st.Uid, st.Gid, st.Mode&0o7777)
}

// alone fails the test if a temporary file is left in dir.
func alone(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, ".whatif-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// add appends a line, like the writer of a profile.
func add(path string) error {
	f, err := Append(path)
	if err != nil {
		return err
	}
	_, err = f.WriteString("line\n")
	return errors.Join(err, f.Close())
}

func replace(path string) error { return Replace(path, []byte("line\n")) }

// both has the two ways to write a file.
var both = map[string]func(string) error{"append": add, "replace": replace}

// device is a character device of the kernel's memory driver. Root tests with a node of its own, so that a mistake does
// not replace the machine's node.
func device(t *testing.T, name string, minor uint32) string {
	t.Helper()
	if os.Geteuid() != 0 {
		return "/dev/" + name
	}
	path := filepath.Join(t.TempDir(), name)
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil {
		t.Skipf("making a device: %v", err)
	}
	if f, err := os.Open(path); err != nil {
		t.Skipf("temporary files lie where devices do not work: %v", err)
	} else {
		f.Close()
	}
	return path
}

// TestPlain writes ordinary files, without privileges.
func TestPlain(t *testing.T) {
	underSudo(t, 0)
	dir := t.TempDir()
	t.Chdir(dir)
	check(t, os.MkdirAll("sub/deep", 0o755), os.Symlink("sub", "way"), os.Symlink(dir+"/way/deep", "far"))
	for _, path := range []string{"new", "./sub/../other", "way/new", "far/new", dir + "//way/./deep/whole"} {
		for range 2 {
			check(t, add(path))
		}
		if got := content(t, path); got != "line\nline\n" {
			t.Errorf("%s: %q", path, got)
		}
		check(t, os.Chmod(path, 0o640), replace(path))
		if got, mode := content(t, path), about(t, path); got != "line\n" || !strings.HasSuffix(mode, " 640") {
			t.Errorf("%s replaced: %q, %s", path, got, mode)
		}
		alone(t, filepath.Dir(path))
	}
	old := unix.Umask(0o022)
	defer unix.Umask(old)
	check(t, add("profile"), replace("report"))
	for path, want := range map[string]string{"profile": " 600", "report": " 644"} {
		if got := about(t, path); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
	null, full := device(t, "null", 3), device(t, "full", 7)
	check(t, add(null), replace(null))
	for name, write := range both {
		if err := write(full); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s /dev/full: %v", name, err)
		}
	}
}

// TestRefusedToAll checks names that are refused for every user.
func TestRefusedToAll(t *testing.T) {
	underSudo(t, 0)
	zero := device(t, "zero", 5)
	t.Chdir(t.TempDir())
	check(t, os.Symlink("/proc/self/fd/1", "stdout"), os.WriteFile("file", []byte("x"), 0o600),
		os.Symlink("file", "link"), os.Symlink("nowhere", "dangling"),
		os.Symlink("loop", "loop"), os.Mkdir("dir", 0o700), unix.Mkfifo("fifo", 0o600))
	listener, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	check(t, err)
	defer unix.Close(listener)
	check(t, unix.Bind(listener, &unix.SockaddrUnix{Name: "socket"}))
	for path, want := range map[string]string{
		"link": "it is a symbolic link", "dangling": "it is a symbolic link",
		"loop": "it is a symbolic link", "stdout": "it is a symbolic link",
		"dir": "is a directory", "dir/": "is a directory", "dir/..": "is a directory",
		".": "is a directory", "/": "is a directory",
		"fifo": "it is not a regular file", "socket": "it is not a regular file",
		zero: "it is not a regular file",
		"":   "no such file or directory", "no/file": "no such file or directory",
		"dangling/x": "no such file or directory", "file/x": "not a directory", "link/x": "not a directory",
		"loop/x":                 "too many levels of symbolic links",
		strings.Repeat("x", 300): "file name too long",
	} {
		for name, write := range map[string]func(string) error{"append": add, "replace": replace, "check": Check} {
			// Opening must not wait for a FIFO without a reader.
			done := make(chan error, 1)
			go func() { done <- write(path) }()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s %q: %v, want %q", name, path, err, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%s %q hangs", name, path)
			}
		}
	}
	if content(t, "file") != "x" {
		t.Error("the link's file was written")
	}
	if _, err := os.Lstat("nowhere"); err == nil {
		t.Error("the dangling link's file was created")
	}
	alone(t, ".")
}

// TestLayouts checks what other users may have prepared where root writes. Each layout has a directory of its own;
// victim is a file of root elsewhere, which must not change.
func TestLayouts(t *testing.T) {
	dir := needRoot(t)
	const link1 = "that another user can change"
	for i, l := range []struct {
		name string
		uid  int // the user who called sudo
		make func(dir, victim string) (path string)
		want string // a part of the error; empty: the file is written
	}{
		{"a new file in a stranger's directory", 0, func(dir, _ string) string {
			return mkdir(t, dir+"/d", stranger, 0o755) + "/p"
		}, ""},
		{"a dangling link in a stranger's directory", 0, func(dir, victim string) string {
			link(t, victim+".new", mkdir(t, dir+"/d", stranger, 0o755)+"/p", stranger)
			return dir + "/d/p"
		}, "it is a symbolic link"},
		{"a link to a file of root's", 0, func(dir, victim string) string {
			link(t, victim, mkdir(t, dir+"/d", stranger, 0o755)+"/p", stranger)
			return dir + "/d/p"
		}, "it is a symbolic link"},
		{"a link of root's own", 0, func(dir, victim string) string {
			link(t, victim, dir+"/p", 0)
			return dir + "/p"
		}, "it is a symbolic link"},
		{"a hard link to a file of root's", 0, func(dir, victim string) string {
			check(t, os.Link(victim, mkdir(t, dir+"/d", stranger, 0o755)+"/p"))
			return dir + "/d/p"
		}, "it has 2 names"},
		{"a file of the stranger's", 0, func(dir, _ string) string {
			return file(t, mkdir(t, dir+"/d", stranger, 0o755)+"/p", stranger, 0o666, "")
		}, "it belongs to another user (uid 4711)"},
		{"a file of root's in a stranger's directory", 0, func(dir, _ string) string {
			return file(t, mkdir(t, dir+"/d", stranger, 0o755)+"/p", 0, 0o600, "")
		}, ""},
		{"a stranger's file in a sticky directory", 0, func(dir, _ string) string {
			return file(t, mkdir(t, dir+"/tmp", 0, 0o777|os.ModeSticky)+"/p", stranger, 0o666, "")
		}, "it belongs to another user"},
		{"a new file in a sticky directory", 0, func(dir, _ string) string {
			return mkdir(t, dir+"/tmp", 0, 0o777|os.ModeSticky) + "/p"
		}, ""},
		{"a stranger's link above", 0, func(dir, _ string) string {
			mkdir(t, dir+"/etc", 0, 0o755)
			link(t, dir+"/etc", mkdir(t, dir+"/d", stranger, 0o755)+"/l", stranger)
			return dir + "/d/l/p"
		}, link1},
		{"a stranger's link above, in a sticky directory", 0, func(dir, _ string) string {
			mkdir(t, dir+"/etc", 0, 0o755)
			link(t, dir+"/etc", mkdir(t, dir+"/tmp", 0, 0o777|os.ModeSticky)+"/l", stranger)
			return dir + "/tmp/l/p"
		}, link1},
		{"root's link where a stranger may put another one", 0, func(dir, _ string) string {
			mkdir(t, dir+"/etc", 0, 0o755)
			link(t, dir+"/etc", mkdir(t, dir+"/open", 0, 0o777)+"/l", 0)
			return dir + "/open/l/p"
		}, link1},
		{"root's link where a group may put another one", 0, func(dir, _ string) string {
			mkdir(t, dir+"/etc", 0, 0o755)
			link(t, dir+"/etc", mkdir(t, dir+"/open", 0, 0o775)+"/l", 0)
			check(t, os.Chown(dir+"/open", 0, stranger))
			return dir + "/open/l/p"
		}, link1},
		{"a stranger's link behind a link of root's", 0, func(dir, _ string) string {
			mkdir(t, dir+"/etc", 0, 0o755)
			link(t, dir+"/etc", mkdir(t, dir+"/d", stranger, 0o755)+"/l", stranger)
			link(t, "d/l", dir+"/way", 0)
			return dir + "/way/p"
		}, link1},
		{"root's link in root's directory", 0, func(dir, _ string) string {
			mkdir(t, dir+"/run", 0, 0o755)
			link(t, "run", dir+"/var", 0)
			return dir + "/var/p"
		}, ""},
		{"root's link in a sticky directory", 0, func(dir, _ string) string {
			mkdir(t, dir+"/run", 0, 0o755)
			link(t, dir+"/run", mkdir(t, dir+"/tmp", 0, 0o777|os.ModeSticky)+"/l", 0)
			return dir + "/tmp/l/p"
		}, ""},
		{"a disk", 0, func(dir, _ string) string {
			check(t, unix.Mknod(dir+"/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(7, 200))))
			return dir + "/disk"
		}, "it is not a regular file"},
		{"a watchdog", 0, func(dir, _ string) string {
			check(t, unix.Mknod(dir+"/watchdog", unix.S_IFCHR|0o600, int(unix.Mkdev(10, 130))))
			return dir + "/watchdog"
		}, "it is not a regular file"},

		{"sudo: a new file of the user's", caller, func(dir, _ string) string {
			return mkdir(t, dir+"/home", caller, 0o700) + "/p"
		}, ""},
		{"sudo: a file of the user's", caller, func(dir, _ string) string {
			return file(t, mkdir(t, dir+"/home", caller, 0o700)+"/p", caller, 0o600, "")
		}, ""},
		{"sudo: the user's link in a directory of the user's group", caller, func(dir, _ string) string {
			mkdir(t, mkdir(t, dir+"/home", caller, 0o775)+"/d", caller, 0o755)
			link(t, "d", dir+"/home/l", caller)
			return dir + "/home/l/p"
		}, ""},
		{"sudo: where only root may write", caller, func(dir, _ string) string {
			return mkdir(t, dir+"/etc", 0, 0o755) + "/p"
		}, "permission denied"},
		{"sudo: a file of root's", caller, func(dir, victim string) string {
			return victim
		}, "permission denied"},
		{"sudo: the user's link to where only root may write", caller, func(dir, victim string) string {
			link(t, filepath.Dir(victim), mkdir(t, dir+"/home", caller, 0o755)+"/l", caller)
			return dir + "/home/l/victim"
		}, "permission denied"},
		{"sudo: a stranger's link to where the user may write", caller, func(dir, _ string) string {
			mkdir(t, dir+"/home", caller, 0o755)
			link(t, dir+"/home", mkdir(t, dir+"/d", stranger, 0o777)+"/l", stranger)
			return dir + "/d/l/p"
		}, link1},
		{"sudo: a stranger's file that all may write", caller, func(dir, _ string) string {
			return file(t, mkdir(t, dir+"/tmp", 0, 0o777|os.ModeSticky)+"/p", stranger, 0o666, "")
		}, "it belongs to another user"},
	} {
		t.Run(l.name, func(t *testing.T) {
			underSudo(t, l.uid)
			for name, write := range both {
				dir := mkdir(t, fmt.Sprintf("%s/%s%d", dir, name, i), 0, 0o755)
				victim := file(t, mkdir(t, dir+"/root", 0, 0o755)+"/victim", 0, 0o644, "precious")
				path := l.make(dir, victim)
				_, err := os.Lstat(path)
				isNew := errors.Is(err, fs.ErrNotExist)
				if name == "replace" {
					said := Check(path)
					if (said == nil) != (l.want == "") || said != nil && !strings.Contains(said.Error(), l.want) {
						t.Errorf("Check: %v, want %q", said, l.want)
					}
					if _, err := os.Lstat(path); isNew && err == nil {
						t.Error("Check made the file")
					}
				}
				err = write(path)
				if (err == nil) != (l.want == "") || err != nil && !strings.Contains(err.Error(), l.want) {
					t.Errorf("%s: %v, want %q", name, err, l.want)
				}
				hinted := hint.Of(err)
				if err != nil && l.uid == 0 && hinted == "" ||
					errors.Is(err, fs.ErrPermission) && !strings.Contains(hinted, "nobody, the user who called sudo") {
					t.Errorf("%s: %v has the hint %q", name, err, hinted)
				}
				if got := content(t, victim); got != "precious" || about(t, victim) != "0:0 644" {
					t.Errorf("%s: root's file has %q now and is %s", name, got, about(t, victim))
				}
				if _, err := os.Lstat(victim + ".new"); err == nil {
					t.Errorf("%s: created through the link", name)
				}
				alone(t, filepath.Dir(path))
				if l.want != "" {
					if _, err := os.Lstat(path); isNew && err == nil {
						t.Errorf("%s: refused, and created", name)
					}
					continue
				}
				want := fmt.Sprintf("%d:%d 600", l.uid, l.uid)
				if isNew && name == "replace" {
					want = fmt.Sprintf("%d:%d 644", l.uid, l.uid)
				}
				if got := about(t, path); got != want || content(t, path) != "line\n" {
					t.Errorf("%s: %q, %s, want %s", name, content(t, path), got, want)
				}
			}
		})
	}
}

// TestSwapped checks that root writes safely while another user renames a link to root's file back and forth.
func TestSwapped(t *testing.T) {
	dir := needRoot(t)
	underSudo(t, 0)
	victim := file(t, dir+"/victim", 0, 0o644, "precious")
	theirs := mkdir(t, dir+"/theirs", stranger, 0o755)
	mkdir(t, theirs+"/way", stranger, 0o755)
	link(t, victim, theirs+"/p", stranger)
	link(t, victim+".new", theirs+"/q", stranger)
	link(t, dir, theirs+"/way.other", stranger)
	file(t, theirs+"/p.other", stranger, 0o666, "")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, name := range []string{"p", "way"} {
				_ = unix.Renameat2(unix.AT_FDCWD, theirs+"/"+name, unix.AT_FDCWD, theirs+"/"+name+".other", unix.RENAME_EXCHANGE)
			}
			_ = os.Remove(theirs + "/q") // sometimes it does not exist
			_ = os.Symlink(victim+".new", theirs+"/q")
		}
	})
	wrote := 0
	begun := time.Now()
	for time.Since(begun) < time.Second || wrote == 0 && time.Since(begun) < time.Minute {
		for _, write := range both {
			for _, name := range []string{"p", "q", "way/victim"} {
				if write(theirs+"/"+name) == nil {
					wrote++
				}
			}
		}
	}
	close(stop)
	swapping.Wait()
	if got := content(t, victim); got != "precious" || about(t, victim) != "0:0 644" {
		t.Errorf("root's file has %q now and is %s", got, about(t, victim))
	}
	if _, err := os.Lstat(victim + ".new"); err == nil {
		t.Error("created through the link")
	}
	if wrote == 0 {
		t.Error("nothing was ever written: the race did not take place")
	}
}

// TestOwnerFromTheStart checks that the user's new file never belongs to root, not even for a moment.
func TestOwnerFromTheStart(t *testing.T) {
	dir := needRoot(t)
	underSudo(t, caller)
	home := mkdir(t, dir+"/home", caller, 0o700)
	stop := make(chan struct{})
	seen := make(chan string, 1)
	go func() {
		var wrong string
		for n := 0; ; n++ {
			select {
			case <-stop:
				seen <- wrong
				return
			default:
			}
			files, _ := os.ReadDir(home)
			for _, f := range files {
				var st unix.Stat_t
				if unix.Lstat(home+"/"+f.Name(), &st) == nil && st.Uid != caller {
					wrong = f.Name()
				}
			}
		}
	}()
	for range 50 {
		check(t, add(home+"/p"), replace(home+"/r"), os.Remove(home+"/p"), os.Remove(home+"/r"))
	}
	close(stop)
	if name := <-seen; name != "" {
		t.Errorf("%s belonged to root", name)
	}
}

// TestFullDisk checks that a report which does not fit leaves the old file, and nothing else.
func TestFullDisk(t *testing.T) {
	dir := needRoot(t)
	underSudo(t, 0)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	check(t, Replace(dir+"/report", []byte("old")), os.Chmod(dir+"/report", 0o604), os.Chown(dir+"/report", 0, 7))
	for _, name := range []string{"report", "new"} {
		if err := Replace(dir+"/"+name, make([]byte, 1<<20)); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := content(t, dir+"/report"); got != "old" || about(t, dir+"/report") != "0:7 604" {
		t.Errorf("the old report is %d bytes, %s", len(got), about(t, dir+"/report"))
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left: %v", files)
	}
	check(t, replace(dir+"/report"))
	if about(t, dir+"/report") != "0:7 604" {
		t.Errorf("replaced: %s", about(t, dir+"/report"))
	}
}

// TestMayNotBeWritten checks that a write-protected file is not replaced.
func TestMayNotBeWritten(t *testing.T) {
	dir := needRoot(t)
	underSudo(t, caller)
	home := mkdir(t, dir+"/home", caller, 0o700)
	path := file(t, home+"/report", caller, 0o444, "old")
	for name, write := range both {
		if err := write(path); !errors.Is(err, fs.ErrPermission) || content(t, path) != "old" {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := file(t, mkdir(t, dir+"/roots", 0, 0o755)+"/other", caller, 0o644, "")
	for _, path := range []string{path, other, dir + "/roots/new"} {
		if err := Check(path); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Check: %s: %v", path, err)
		}
	}
}

func TestOwn(t *testing.T) {
	dir := needRoot(t)
	underSudo(t, 0)
	mkdir(t, dir+"/theirs", stranger, 0o755)
	mkdir(t, dir+"/open", 0, 0o777|os.ModeSticky)
	mkdir(t, dir+"/caller", caller, 0o755)
	mkdir(t, dir+"/theirs/roots", 0, 0o755) // the owner of theirs may replace it
	mkdir(t, dir+"/open/roots", 0, 0o755)   // the sticky bit forbids this
	for path, want := range map[string]bool{
		"/theirs/roots": false, "/open/roots": true,
		"": true, "/not/yet/there": true,
		"/theirs": false, "/theirs/below": false, "/open": false, "/open/x": false, "/caller": false,
	} {
		if got := Own(dir + path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	underSudo(t, caller)
	if !Own(dir+"/caller") || Own(dir+"/theirs") {
		t.Error("under sudo the user's directory counts as one's own, and no other")
	}
}
