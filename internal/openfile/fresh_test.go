package openfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFresh: only the user can reach what is in the directory, and nothing is left of it.
func TestFresh(t *testing.T) {
	uids := []uint32{uint32(os.Geteuid())}
	if os.Geteuid() == 0 {
		uids = append(uids, Nobody)
	}
	for _, uid := range uids {
		root := t.TempDir()
		mustChmod(t, root, 0o755)
		if err := os.Mkdir(filepath.Join(root, "tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		mustChmod(t, filepath.Join(root, "tmp"), 0o777|os.ModeSticky)
		f, err := MakeFresh(uid, 0, root, "/tmp/new")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := MakeFresh(uid, 0, root, "/tmp/new"); !errors.Is(err, unix.EEXIST) {
			t.Errorf("a second time: %v", err)
		}
		if err := f.Write("file", []byte("contents")); err != nil {
			t.Error(err)
		}
		if err := f.Write("file", nil); !errors.Is(err, unix.EEXIST) {
			t.Errorf("an existing file: %v", err)
		}
		listener, err := f.Listen("socket")
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(listener)
		for name, mode := range map[string]uint32{"": unix.S_IFDIR | 0o700, "file": unix.S_IFREG | 0o600} {
			var st unix.Stat_t
			if err := unix.Lstat(filepath.Join(root, "tmp/new", name), &st); err != nil || st.Uid != uid || st.Mode != mode {
				t.Errorf("%q: user %d, mode %o: %v", name, st.Uid, st.Mode, err)
			}
		}
		if text, err := os.ReadFile(filepath.Join(root, "tmp/new/file")); string(text) != "contents" {
			t.Errorf("%q, %v", text, err)
		}
		if err := f.Remove("file", "socket", "none"); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Join(root, "tmp")); err != nil || len(left) > 0 {
			t.Errorf("%v is left: %v", left, err)
		}
	}
}

// TestFreshPlanted: nothing is made where somebody else could exchange it, and nothing that is there is used.
func TestFreshPlanted(t *testing.T) {
	root, uid := t.TempDir(), uint32(os.Geteuid())
	for name, mode := range map[string]os.FileMode{"open": 0o777, "group": 0o775, "shut": 0o755} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		mustChmod(t, filepath.Join(root, name), mode)
	}
	if err := os.Symlink(root, filepath.Join(root, "shut/link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"/open/new": ErrOpenToAll, "/group/new": ErrOpenToAll, "/shut/link": unix.EEXIST, "/none/new": unix.ENOENT,
	} {
		if _, err := MakeFresh(uid, 0, root, path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	// A directory of another user: that user can exchange what is in it.
	if err := os.Chown(filepath.Join(root, "shut"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := MakeFresh(uid, 0, root, "/shut/new"); !errors.Is(err, ErrOpenToAll) {
		t.Errorf("another user's directory: %v", err)
	}
	f, err := MakeFresh(uid, 12345, root, "/shut/new")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
}

// TestRemoveStale: what a killed process has left is removed, and nothing that is in use, has other files or belongs to
// somebody else.
func TestRemoveStale(t *testing.T) {
	root, uid := t.TempDir(), uint32(os.Geteuid())
	used, err := MakeFresh(uid, 0, root, "/.some-used")
	if err != nil {
		t.Fatal(err)
	}
	if err := used.Write("file", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".some-left", ".some-full", ".other"} {
		f, err := MakeFresh(uid, 0, root, "/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write("file", []byte("x")); err != nil {
			t.Fatal(err)
		}
		f.close() // as the kernel does when the process ends
	}
	for path, text := range map[string]string{".some-full/mine": "x", ".some-file": "x"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".other", ".some-file", ".some-full", ".some-link", ".some-used"}
	if err := os.Symlink(filepath.Join(root, ".other"), filepath.Join(root, ".some-link")); err != nil {
		t.Fatal(err)
	}
	if uid == 0 {
		others := filepath.Join(root, ".some-others")
		if err := errors.Join(os.Mkdir(others, 0o700), os.Chown(others, Nobody, Nobody)); err != nil {
			t.Fatal(err)
		}
		want = append(want, ".some-others")
	}
	if err := RemoveStale(uid, root, "/.some-", "file", "socket"); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, not %v: %v", left, want, err)
	}
	if _, err := os.Stat(filepath.Join(root, ".some-used/file")); err != nil {
		t.Error(err)
	}
	if err := used.Remove("file"); err != nil {
		t.Error(err)
	}
}

// TestFreshBesideRemoval: while others look for leftovers, a directory is still made under the name that was asked for.
func TestFreshBesideRemoval(t *testing.T) {
	root, uid := t.TempDir(), uint32(os.Geteuid())
	var others sync.WaitGroup
	var done atomic.Bool
	for range 3 {
		others.Go(func() {
			for !done.Load() {
				if err := RemoveStale(uid, root, "/.some-", "file"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer others.Wait()
	defer done.Store(true)
	for range 300 {
		f, err := MakeFresh(uid, 0, root, "/.some-new")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

func mustChmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
