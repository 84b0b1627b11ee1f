package preload

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const name = "libwhatif-some"

var library = []byte("\x7fELF and so on")

func TestInstall(t *testing.T) {
	path, err := Install(name, library)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Fatalf("%v, %v", info, err)
	}
	again, err := Install(name, library)
	if err != nil || again != path {
		t.Errorf("the second time at %s, not %s: %v", again, path, err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(info, now) {
		t.Errorf("the second time another file: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Dir(path) + "/.lib*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// ownDir returns a directory that, like those above it, no other user can change. t.TempDir does
// not do: its directories are below /tmp.
func ownDir(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a directory of root's")
	}
	dir, err := os.MkdirTemp("/var/lib", "whatif-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestInstallRefuses checks that nothing is installed where another user could replace it later.
func TestInstallRefuses(t *testing.T) {
	own := ownDir(t)
	const nobody = 65534
	make := func(dir string, uid int, mode os.FileMode) string {
		dir = filepath.Join(own, dir)
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chown(dir, uid, -1), os.Chmod(dir, mode)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	link := filepath.Join(own, "link")
	if err := os.Symlink(make("behind", nobody, 0o755), link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(own, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for why, dir := range map[string]string{
		"everybody may write":        make("everybodys", 0, 0o777),
		"also where sticky":          make("sticky", 0, 0o777|os.ModeSticky),
		"a group may write":          make("groups", 0, 0o775),
		"another user's":             make("others", nobody, 0o755),
		"below another user's":       filepath.Join(make("above", nobody, 0o755), "whatif"),
		"below everybody's":          filepath.Join(make("open", 0, 0o777), "whatif"),
		"a link to another user's":   link,
		"no directory":               file,
		"split by the linker":        make("a b", 0, 0o755),
		"a list to the linker":       make("a:b", 0, 0o755),
		"replaced by the linker":     make("$ORIGIN", 0, 0o755),
		"/tmp, which tools clean up": filepath.Join(t.TempDir(), "whatif"),
	} {
		if path, err := install(dir, 0, name, library); err == nil {
			t.Errorf("%s: installed as %s", why, path)
		}
	}
	if _, err := install(make("mine", nobody, 0o700), nobody, name, library); err != nil {
		t.Errorf("a user's own: %v", err)
	}
	defer unix.Umask(unix.Umask(0o077))
	if path, err := install(filepath.Join(own, "fine"), 0, name, library); err != nil {
		t.Errorf("root's: %v", err)
	} else if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestInstallReplaces checks that a wrong file is replaced, and that a link's target is not written.
func TestInstallReplaces(t *testing.T) {
	own := ownDir(t)
	path, err := install(own, 0, name, library)
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(own, "victim")
	for why, spoil := range map[string]func() error{
		"cut short":      func() error { return os.Truncate(path, 10) },
		"longer":         func() error { return os.WriteFile(path, append(bytes.Clone(library), 0), 0o644) },
		"another mode":   func() error { return os.Chmod(path, 0o666) },
		"another user's": func() error { return os.Chown(path, 65534, -1) },
		"a link": func() error {
			return errors.Join(os.WriteFile(victim, library, 0o644), os.Remove(path), os.Symlink(victim, path))
		},
		"a FIFO": func() error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o644)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		again, err := install(own, 0, name, library)
		if err != nil || again != path || !isInstalled(path, 0, library) {
			t.Errorf("%s: %s, %v", why, again, err)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || !bytes.Equal(text, library) {
		t.Errorf("what the link led to: %v", err)
	}
}

func TestDirectories(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	for _, test := range []struct {
		uid  int
		env  map[string]string
		want string
	}{
		{0, map[string]string{"XDG_CACHE_HOME": "/home/u/.cache", "HOME": "/home/u"}, "/run/whatif /var/lib/whatif"},
		{1000, map[string]string{"HOME": "/home/u"}, "/home/u/.cache/whatif /run/user/1000/whatif"},
		{1000, map[string]string{"XDG_CACHE_HOME": "/c", "HOME": "/home/u"}, "/c/whatif /run/user/1000/whatif"},
		{1000, map[string]string{"XDG_CACHE_HOME": "c", "HOME": "u"}, "/run/user/1000/whatif"},
	} {
		if got := strings.Join(directories(test.uid, env(test.env)), " "); got != test.want {
			t.Errorf("user %d, %v: %s, want %s", test.uid, test.env, got, test.want)
		}
	}
}
