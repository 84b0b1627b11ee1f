package target

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestAsInvokingUser checks that whatif does not read a file for a user who may not read it, and that whatif itself
// keeps root's rights.
func TestAsInvokingUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	read := func(name string) error {
		return AsInvokingUser(func() error {
			_, err := os.ReadFile(filepath.Join(dir, name))
			return err
		})
	}
	for name, mode := range map[string]os.FileMode{"secret": 0o600, "group": 0o640, "open": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := read("secret"); err != nil {
		t.Errorf("without sudo: %v", err)
	}
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "65534")
	for _, name := range []string{"secret", "group"} {
		if err := read(name); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := read("open"); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "secret")); err != nil {
		t.Errorf("whatif itself: %v", err)
	}
}
